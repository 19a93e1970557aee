#include "pliant/base/bytes.hpp"
#include "pliant/distributed/model_part.hpp"

namespace pliant {

namespace {

/// Writes or reads, so that what is in a message, and in what order, stands below once for both.
class Sender {
 public:
  template <class T>
  void numbers(const std::vector<T>& values) {
    size(values.size());
    out_.put_raw({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  void numbers(const VecX& values) {
    size(static_cast<std::size_t>(values.size()));
    out_.put_raw(
        {reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * sizeof(double)});
  }
  void number(auto value) { out_.put(value); }
  void text(const std::string& value) { out_.put_text(value); }
  template <class T, class Each>
  void list(const std::vector<T>& values, Each&& each) {
    size(values.size());
    for (const T& value : values) each(value);
  }
  std::string take() { return out_.take(); }

 private:
  void size(std::size_t count) { out_.put(static_cast<std::uint64_t>(count)); }
  ByteWriter out_;
};

class Receiver {
 public:
  explicit Receiver(const std::string& bytes) : in_(bytes) {}
  template <class Values>
  void numbers(Values& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    const auto count = in_.get<std::uint64_t>();
    values.resize(static_cast<decltype(values.size())>(count));
    for (T& value : values) in_.get_raw(&value, sizeof value);
  }
  template <class T>
  void number(T& value) {
    value = in_.get<T>();
  }
  void text(std::string& value) { value = in_.get_text(); }
  template <class T, class Each>
  void list(std::vector<T>& values, Each&& each) {
    values.resize(in_.get<std::uint64_t>());
    for (T& value : values) each(value);
  }

 private:
  ByteReader in_;
};

void pass_factor(auto& message, auto& factor) { message.numbers(factor.keyframes.keys); }

template <class Message>
void pass(Message& message, auto& part) {
  const auto numbers = [&](auto& values) { message.numbers(values); };
  message.list(part.bodies, [&](auto& body) {
    message.number(body.number);
    message.text(body.mesh.source);
    numbers(body.mesh.vertices);
    numbers(body.mesh.tets);
    if constexpr (std::is_same_v<Message, Receiver>) body.mesh.surface.emplace();
    numbers(body.mesh.surface->triangles);
    numbers(body.mesh.surface->tets);
    if constexpr (std::is_same_v<Message, Receiver>)
      numbers(body.mesh.sets["boundary"]);
    else
      numbers(body.mesh.sets.at("boundary"));
    numbers(body.lame);
    message.list(body.fibre_parameters, numbers);
    message.list(body.fibre_directions, numbers);
  });
  message.number(part.all_nodes);
  numbers(part.nodes);
  numbers(part.owned);
  message.list(part.neighbours, [&](auto& neighbour) {
    message.number(neighbour.rank);
    numbers(neighbour.nodes);
  });
  message.list(part.pinned, numbers);
  message.list(part.scripted, numbers);
  message.list(part.script_fields, numbers);
  message.list(part.probed, numbers);
  numbers(part.force);
  numbers(part.velocity);
  message.list(part.timed_loads, [&](auto& load) {
    message.text(load.name);
    numbers(load.nodes);
    numbers(load.forces);
    pass_factor(message, load.factor);
  });
  message.list(part.surface_loads, [&](auto& load) {
    message.text(load.name);
    message.number(load.kind);
    std::vector<Index> nodes;
    int order = 1;
    if constexpr (std::is_same_v<Message, Sender>) {
      nodes = load.faces->stencils().nodes;
      order = load.faces->reference().order();
    }
    numbers(nodes);
    message.number(order);
    if constexpr (std::is_same_v<Message, Receiver>) load.faces = std::make_shared<const FaceSet>(order, nodes);
    message.number(load.pressure);
    for (int axis = 0; axis < 3; ++axis) message.number(load.traction[axis]);
    message.number(load.gas);
    message.number(load.rest_volume);
    pass_factor(message, load.factor);
  });
}

}  // namespace

std::string to_bytes(const ModelPart& part) {
  Sender message;
  pass(message, part);
  return message.take();
}

ModelPart part_from_bytes(const std::string& bytes) {
  ModelPart part;
  Receiver message(bytes);
  pass(message, part);
  return part;
}

}  // namespace pliant
