#include "pliant/simulation/snapshot.hpp"

#include "pliant/base/bytes.hpp"

namespace pliant {

namespace {

constexpr std::string_view kMagic = "PLIANT-SNAPSHOT-2\n";  // the digit is the format's version

void put(const VecX& x, ByteWriter& out) { out.put_array(x.data(), static_cast<std::size_t>(x.size())); }
void put(const std::vector<double>& x, ByteWriter& out) { out.put_array(x.data(), x.size()); }

template <class Array>
void get(ByteReader& in, Array& x) {
  in.get_array<double>([&](std::uint64_t count) {
    x.resize(static_cast<decltype(x.size())>(count));
    return x.data();
  });
}

}  // namespace

std::string to_bytes(const Snapshot& snapshot) {
  ByteWriter out;
  out.put(snapshot.fingerprint);
  out.put(snapshot.cuts);
  out.put(snapshot.state.time);
  out.put(snapshot.state.step);
  put(snapshot.state.x, out);
  put(snapshot.state.v, out);
  put(snapshot.state.activation, out);
  put(snapshot.memory, out);
  return seal(kMagic, out.bytes());
}

Snapshot snapshot_from_bytes(std::string_view bytes) {
  ByteReader in(unseal(kMagic, bytes, "snapshot"));
  Snapshot snapshot;
  snapshot.fingerprint = in.get<Fingerprint>();
  snapshot.cuts = in.get<std::uint64_t>();
  snapshot.state.time = in.get<double>();
  snapshot.state.step = in.get<std::int64_t>();
  get(in, snapshot.state.x);
  get(in, snapshot.state.v);
  get(in, snapshot.state.activation);
  get(in, snapshot.memory);
  if (!in.empty()) throw InputError("is longer than it should be");
  return snapshot;
}

}  // namespace pliant
