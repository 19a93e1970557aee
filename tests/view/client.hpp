#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace pliant::view::testing {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Json = nlohmann::json;
using std::chrono::milliseconds;

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value;
  if (offset + sizeof value > bytes.size()) throw std::out_of_range("the message is too short");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// A frame as a page decodes it.
struct DecodedFrame {
  std::uint8_t view = 0, views = 0, colour = 0;
  std::uint32_t number = 0, revision = 0, vertices = 0, step = 0, stamp = 0;
  double time = 0;
  float low = 0, high = 0;
  std::string bytes;

  explicit DecodedFrame(const std::string& message)
      : view(number_at<std::uint8_t>(message, 1)),
        views(number_at<std::uint8_t>(message, 2)),
        colour(number_at<std::uint8_t>(message, 3)),
        number(number_at<std::uint32_t>(message, 4)),
        revision(number_at<std::uint32_t>(message, 8)),
        vertices(number_at<std::uint32_t>(message, 12)),
        step(number_at<std::uint32_t>(message, 56)),
        stamp(number_at<std::uint32_t>(message, 60)),
        time(number_at<double>(message, 16)),
        low(number_at<float>(message, 48)),
        high(number_at<float>(message, 52)),
        bytes(message) {}

  std::array<double, 3> position(std::size_t vertex) const {
    std::array<double, 3> p{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      p[axis] = static_cast<double>(number_at<float>(bytes, 24 + 4 * axis)) +
                static_cast<double>(number_at<float>(bytes, 36 + 4 * axis)) *
                    number_at<std::uint16_t>(bytes, 64 + 6 * vertex + 2 * axis) / 65535;
    return p;
  }
};

struct Received {
  bool is_text = false;
  std::string bytes;
};

/// A client in plain C++, which does one thing at a time: what the page is to a person.
class Client {
 public:
  /// Throws std::runtime_error with the status when the server refuses, for example "403".
  explicit Client(std::uint16_t port, const std::string& host = "", const std::string& origin = "",
                  const std::string& target = "/ws") {
    beast::get_lowest_layer(socket_).connect({asio::ip::make_address("127.0.0.1"), port});
    beast::get_lowest_layer(socket_).socket().set_option(asio::ip::tcp::no_delay(true));
    socket_.set_option(beast::websocket::stream_base::decorator([&](beast::websocket::request_type& request) {
      if (!origin.empty()) request.set(beast::http::field::origin, origin);
    }));
    socket_.read_message_max(1U << 30U);
    beast::websocket::response_type response;
    beast::error_code error;
    socket_.handshake(response, host.empty() ? "127.0.0.1:" + std::to_string(port) : host, target, error);
    if (error) throw std::runtime_error(std::to_string(response.result_int()));
  }

  void send(const Json& json) { send_text(json.dump()); }
  /// Drops out of use when the server has closed the connection.
  bool send_text(const std::string& text) { return write(true, text); }
  bool send_binary(const std::string& bytes) { return write(false, bytes); }

  /// The next message; nothing when none comes in time or the connection has ended.
  std::optional<Received> receive(milliseconds timeout = milliseconds(20'000)) {
    if (ended_) return std::nullopt;
    if (!reading_) {
      reading_ = true;
      done_ = false;
      socket_.async_read(buffer_, [this](beast::error_code error, std::size_t) {
        reading_ = false;
        done_ = !error;
        ended_ = static_cast<bool>(error);
      });
    }
    io_.restart();
    asio::steady_timer timer(io_, timeout);
    bool late = false;
    timer.async_wait([&](beast::error_code error) { late = !error; });
    while (reading_ && !late) io_.run_one();
    timer.cancel();
    io_.poll();
    if (!done_) return std::nullopt;
    done_ = false;
    Received received{socket_.got_text(), beast::buffers_to_string(buffer_.data())};
    buffer_.clear();
    return received;
  }

  /// The next text message of a type, with frames seen and others skipped on the way.
  std::optional<Json> wait_for(const std::string& type, milliseconds timeout = milliseconds(20'000)) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (std::chrono::steady_clock::now() < end) {
      const auto received = receive(std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now()));
      if (!received) break;
      if (!received->is_text) {
        acknowledge(*received);
        continue;
      }
      Json json = Json::parse(received->bytes);
      if (json.at("type") == type) return json;
    }
    return std::nullopt;
  }

  /// The next frame of a view, acknowledged.
  std::optional<DecodedFrame> next_frame(int view = 0, milliseconds timeout = milliseconds(20'000)) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (std::chrono::steady_clock::now() < end) {
      const auto received = receive(std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now()));
      if (!received) break;
      if (received->is_text || received->bytes.at(0) != 3) continue;
      acknowledge(*received);
      DecodedFrame frame(received->bytes);
      if (frame.view == view) return frame;
    }
    return std::nullopt;
  }

  void acknowledge(const Received& received) {
    if (received.is_text || received.bytes.at(0) != 3) return;
    const DecodedFrame frame(received.bytes);
    if (frame.view + 1 == frame.views) send({{"type", "seen"}, {"frame", frame.number}});
  }
  bool ended() const { return ended_; }
  unsigned close_code() const { return socket_.reason().code; }

 private:
  bool write(bool is_text, const std::string& bytes) {
    if (ended_) return false;
    beast::error_code error;
    socket_.text(is_text);
    socket_.write(asio::buffer(bytes), error);
    return !error;
  }

  asio::io_context io_;
  beast::websocket::stream<beast::tcp_stream> socket_{io_};
  beast::flat_buffer buffer_;
  bool reading_ = false, done_ = false, ended_ = false;
};

}  // namespace pliant::view::testing
