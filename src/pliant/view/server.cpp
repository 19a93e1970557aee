// The only file that knows Boost.Beast. Everything here runs in the one thread of Server::run, so that nothing needs a
// lock; the session's thread leaves messages by posting them.
#include "pliant/view/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <list>

#include "pliant/base/error.hpp"
#include "pliant/view/page.hpp"

namespace pliant::view {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Error = beast::error_code;

constexpr std::size_t kMostClients = 8;
constexpr std::size_t kMostText = 64 * 1024;           ///< bytes of a text message
constexpr std::size_t kMostBinary = 64 * 1024 * 1024;  ///< of a saved state
constexpr double kMessagesPerSecond = 2000;            ///< read from a client; more has to wait
constexpr std::size_t kMostQueuedBytes = 256 << 20U;   ///< of answers that a client does not take
constexpr std::size_t kMostQueuedMessages = 20'000;
constexpr std::size_t kMostReceived = 160 << 20U;        ///< of messages of all clients that are not answered yet
constexpr std::size_t kFramesAhead = 2;                  ///< sent and not yet seen
constexpr auto kRequestTime = std::chrono::seconds(10);  ///< for a request over HTTP

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

/// Host names that are this server: what pages of other sites cannot have as theirs, even when their name is made to
/// lead here (DNS rebinding).
class Names {
 public:
  Names(const std::string& host, std::uint16_t port) : host_(host), port_(port) {
    Error error;
    const auto address = asio::ip::make_address(host, error);
    any_ = !error && address.is_unspecified();
  }

  bool is_ours(std::string_view host_and_port) const {
    std::string_view host = host_and_port;
    std::string port = "80";
    const std::size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
      port = std::string(host.substr(colon + 1));
      host = host.substr(0, colon);
    }
    if (port != std::to_string(port_)) return false;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (equal_ignoring_case(host, "localhost") || host == "127.0.0.1" || host == "::1" ||
        equal_ignoring_case(host, host_))
      return true;
    // On all addresses: any address will do, a name will not.
    Error error;
    if (any_) asio::ip::make_address(std::string(host), error);
    return any_ && !error;
  }

 private:
  std::string host_;
  std::uint16_t port_;
  bool any_ = false;
};

using HttpRequest = http::request<http::empty_body>;

/// Why a request is not to be answered; empty: it may be.
std::string refusal(const HttpRequest& request, const Names& names) {
  const auto view = [](beast::string_view s) { return std::string_view(s.data(), s.size()); };
  if (request.count(http::field::host) != 1 || !names.is_ours(view(request[http::field::host])))
    return "this server does not answer to that host name";
  if (request.count(http::field::origin) == 0) return "";
  std::string_view origin = view(request[http::field::origin]);
  if (!origin.starts_with("http://")) return "pages of other sites may not use this server";
  origin.remove_prefix(7);
  if (!equal_ignoring_case(origin, view(request[http::field::host])))
    return "pages of other sites may not use this server";
  return "";
}

}  // namespace

class Server::Implementation {
 public:
  class Connection;
  class Visit;

  Implementation(ServerOptions options, Session& session);
  void accept();
  void remove(ClientId client);

  ServerOptions options_;
  Session& session_;
  std::list<Visit*> visits_;  ///< oldest first; outlives what is left in io_ at the end
  std::size_t received_ = 0;  ///< bytes of messages that are not all here yet
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  std::unique_ptr<Names> names_;
  std::map<ClientId, std::shared_ptr<Connection>> connections_;
  ClientId next_client_ = 1;
  std::atomic<bool> news_posted_ = false;
};

/// A client's WebSocket.
class Server::Implementation::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket&& socket, Implementation& server, ClientId id)
      : socket_(std::move(socket)), timer_(server.io_), server_(server), id_(id) {}

  void begin(const HttpRequest& request) {
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = kRequestTime;
    timeout.idle_timeout = std::chrono::seconds(60);
    timeout.keep_alive_pings = true;
    socket_.set_option(timeout);
    socket_.read_message_max(kMostBinary);
    socket_.async_accept(request, [self = shared_from_this()](Error error) {
      if (error) return self->end();
      self->server_.session_.post(self->id_, {ask::Arrive{}, "arrive", {}});
      self->arrived_ = true;
      self->read();
    });
  }

  void queue(bool is_text, std::string bytes) {
    if (ended_) return;
    queued_bytes_ += bytes.size();
    if (queued_bytes_ > kMostQueuedBytes || queue_.size() > kMostQueuedMessages) return end();  // it does not read
    queue_.push_back({is_text, std::make_shared<const std::string>(std::move(bytes))});
    pump();
  }

  void welcome() {
    welcome_ = true;
    pump();
  }

  /// Sends the next thing there is to send, if nothing is on its way.
  void pump() {
    if (writing_ || ended_) return;
    if (!queue_.empty()) {
      Message message = std::move(queue_.front());
      queue_.pop_front();
      queued_bytes_ -= message.bytes->size();
      return write(message);
    }
    if (!parts_.empty()) {
      Message message = std::move(parts_.front());
      parts_.pop_front();
      return write(message);
    }
    if (!welcome_) return;
    const Latest latest = server_.session_.latest();
    const auto add = [&](bool is_text, const std::shared_ptr<const void>& owner, const std::string& bytes) {
      parts_.push_back({is_text, std::shared_ptr<const std::string>(owner, &bytes)});
    };
    if (latest.setting != setting_) {
      setting_ = latest.setting;
      add(true, setting_, setting_->scene);
      if (latest.play != play_) play_ = latest.play;
      add(true, play_, *play_);
      add(false, setting_, setting_->topology);
      if (!setting_->skin.empty()) add(false, setting_, setting_->skin);
      add(false, setting_, setting_->obstacles);
    } else if (latest.play != play_) {
      play_ = latest.play;
      add(true, play_, *play_);
    } else if (latest.frame && latest.frame != frame_ && unseen_.size() < kFramesAhead) {
      frame_ = latest.frame;
      unseen_.push_back(frame_->number);
      add(true, frame_, frame_->telemetry);
      for (const std::string& view : frame_->views) add(false, frame_, view);
    }
    if (!parts_.empty()) pump();
  }

  void end() {
    if (std::exchange(ended_, true)) return;
    Error ignored;
    timer_.cancel();
    count_received(0);
    beast::get_lowest_layer(socket_).socket().close(ignored);
    if (arrived_) server_.session_.post(id_, {ask::Leave{}, "leave", {}});
    server_.remove(id_);
  }

 private:
  struct Message {
    bool is_text;
    std::shared_ptr<const std::string> bytes;
  };

  void write(const Message& message) {
    writing_ = true;
    socket_.text(message.is_text);
    socket_.async_write(asio::buffer(*message.bytes),
                        [self = shared_from_this(), kept = message.bytes](Error error, std::size_t) {
                          self->writing_ = false;
                          if (error) return self->end();
                          self->pump();
                        });
  }

  void read() {
    // In parts, so that a text that is too long is noticed before it is all here.
    socket_.async_read_some(buffer_, kMostText, [self = shared_from_this()](Error error, std::size_t) {
      if (error) return self->end();
      if (self->socket_.got_text() && self->buffer_.size() > kMostText)
        return self->close(websocket::close_code::too_big);
      self->count_received(self->buffer_.size());
      if (self->server_.received_ + self->server_.session_.waiting_bytes() > kMostReceived)
        return self->close(websocket::close_code::try_again_later);
      if (!self->socket_.is_message_done()) return self->read();
      self->take();
      if (!self->ended_) self->read_when_allowed();
    });
  }

  /// A bucket that fills at the greatest rate allowed: what comes faster waits in the client's own socket.
  void read_when_allowed() {
    const Clock::time_point now = Clock::now();
    allowed_ = std::min(kMessagesPerSecond,
                        allowed_ + kMessagesPerSecond * std::chrono::duration<double>(now - counted_).count());
    counted_ = now;
    allowed_ -= 1;
    if (allowed_ > 0) return read();
    timer_.expires_after(std::chrono::milliseconds(50));
    timer_.async_wait([self = shared_from_this()](Error error) {
      if (!error && !self->ended_) self->read();
    });
  }

  /// Bytes of this client's share of received_.
  void count_received(std::size_t bytes) {
    server_.received_ += bytes - counted_bytes_;
    counted_bytes_ = bytes;
  }

  void take() {
    std::string bytes = beast::buffers_to_string(buffer_.data());
    const bool is_text = socket_.got_text();
    buffer_.clear();
    if (buffer_.capacity() > 4 * kMostText) buffer_.shrink_to_fit();
    count_received(0);
    try {
      Request request = is_text ? parse_text(bytes) : parse_binary(std::move(bytes));
      if (const auto* seen = std::get_if<ask::Seen>(&request.what)) {
        while (!unseen_.empty() && unseen_.front() <= seen->frame) unseen_.pop_front();
        return pump();
      }
      const std::string type = request.type;
      if (!server_.session_.post(id_, std::move(request)))
        answer_error(type, "the simulation is too busy; this request was dropped");
    } catch (const BadRequest& error) {
      answer_error(error.type(), error.what());
    }
  }

  void answer_error(const std::string& type, const std::string& message) {
    const Json json = {{"type", "error"}, {"message", message}, {"of", type.empty() ? Json(nullptr) : Json(type)}};
    queue(true, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  void close(websocket::close_code code) {
    if (writing_) return end();
    socket_.async_close(code, [self = shared_from_this()](Error) { self->end(); });
    writing_ = true;  // nothing follows
  }

  websocket::stream<beast::tcp_stream, false> socket_;  ///< without compression, which is never asked for
  asio::steady_timer timer_;
  Implementation& server_;
  ClientId id_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;  ///< answers
  std::deque<Message> parts_;  ///< of the setting, the play message or the frame that is being sent
  std::size_t queued_bytes_ = 0;
  std::size_t counted_bytes_ = 0;
  std::shared_ptr<const Setting> setting_;
  std::shared_ptr<const std::string> play_;
  std::shared_ptr<const Frame> frame_;
  std::deque<std::uint32_t> unseen_;
  bool welcome_ = false, writing_ = false, arrived_ = false, ended_ = false;
  double allowed_ = kMessagesPerSecond;
  Clock::time_point counted_ = Clock::now();
};

/// A connection over HTTP, until it ends or becomes a WebSocket.
class Server::Implementation::Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(tcp::socket&& socket, Implementation& server)
      : stream_(std::move(socket)), server_(server), place_(server.visits_.insert(server.visits_.end(), this)) {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { server_.visits_.erase(place_); }

  bool is_waiting() const { return is_waiting_; }
  /// What it waits for ends with an error, and with that the visit.
  void drop() {
    is_waiting_ = false;
    Error ignored;
    stream_.socket().close(ignored);
  }

  void read() {
    is_waiting_ = true;
    parser_.emplace();
    parser_->header_limit(16 * 1024);
    parser_->body_limit(0);
    stream_.expires_after(kRequestTime);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Error error, std::size_t) {
      self->is_waiting_ = false;
      if (!error) return self->answer();
      if (error != http::error::end_of_stream) return;
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

 private:
  void answer() {
    const HttpRequest request = parser_->release();
    const std::string_view target(request.target().data(), request.target().size());
    if (const std::string why = refusal(request, *server_.names_); !why.empty())
      return respond(request, http::status::forbidden, {why + "\n", "text/plain; charset=utf-8"});
    if (websocket::is_upgrade(request)) {
      if (target != "/ws")
        return respond(request, http::status::not_found, {"the WebSocket is at /ws\n", "text/plain"});
      if (server_.connections_.size() >= kMostClients)
        return respond(request, http::status::service_unavailable,
                       {fmt::format("{} clients are connected already; close one\n", kMostClients), "text/plain"});
      stream_.expires_never();
      const ClientId id = server_.next_client_++;
      const auto connection = std::make_shared<Connection>(stream_.release_socket(), server_, id);
      server_.connections_[id] = connection;
      return connection->begin(request);
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return respond(request, http::status::method_not_allowed, {"only GET and HEAD\n", "text/plain"});
    if (std::optional<PageFile> file = page_file(target, server_.options_.page))
      return respond(request, http::status::ok, std::move(*file));
    respond(request, http::status::not_found, {"there is no such file\n", "text/plain"});
  }

  void respond(const HttpRequest& request, http::status status, PageFile file) {
    auto response = std::make_shared<http::response<http::string_body>>(status, request.version());
    const std::string host(request[http::field::host].data(), request[http::field::host].size());
    response->set(http::field::content_type, beast::string_view(file.type.data(), file.type.size()));
    // Nothing from anywhere else, not even styles in the page: whatever a scene is called, it stays text.
    if (status == http::status::ok)
      response->set(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' "
          "ws://" +
              host + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response->set("X-Content-Type-Options", "nosniff");
    response->set("Referrer-Policy", "no-referrer");
    response->set("Cross-Origin-Resource-Policy", "same-origin");
    response->set(http::field::cache_control, "no-cache");
    response->keep_alive(request.keep_alive() && status == http::status::ok);
    response->body() = std::move(file.content);
    response->prepare_payload();
    if (request.method() == http::verb::head) response->body().clear();
    stream_.expires_after(kRequestTime);
    http::async_write(stream_, *response, [self = shared_from_this(), response](Error error, std::size_t) {
      if (error) return;
      if (response->keep_alive()) return self->read();
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  Implementation& server_;
  beast::flat_buffer buffer_{32 * 1024};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::list<Visit*>::iterator place_;
  bool is_waiting_ = false;  ///< for a request
};

Server::Implementation::Implementation(ServerOptions options, Session& session)
    : options_(std::move(options)), session_(session) {
  Error error;
  const std::string name = options_.host == "localhost" ? "127.0.0.1" : options_.host;
  const auto address = asio::ip::make_address(name, error);
  if (error)
    throw InputError(
        fmt::format("--host {} is not an address; use one such as 127.0.0.1, 0.0.0.0 or ::1", options_.host));
  const tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw InputError(fmt::format("cannot listen on {} port {}: {}; choose another with --port", options_.host,
                                 options_.port, error.message()));
  names_ = std::make_unique<Names>(options_.host, acceptor_.local_endpoint().port());
  accept();
}

void Server::Implementation::accept() {
  constexpr std::size_t kMostVisits = 64;
  acceptor_.async_accept([this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    Error ignored;
    // Whoever has waited longest without a whole request makes room: connections that drip starve nobody.
    if (!error && visits_.size() >= kMostVisits) {
      const auto slowest =
          std::find_if(visits_.begin(), visits_.end(), [](const Visit* visit) { return visit->is_waiting(); });
      if (slowest != visits_.end()) (*slowest)->drop();
    }
    if (!error && visits_.size() < 2 * kMostVisits) {
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Visit>(std::move(socket), *this)->read();
    }
    accept();
  });
}

void Server::Implementation::remove(ClientId client) { connections_.erase(client); }

Server::Server(ServerOptions options, Session& session)
    : implementation_(std::make_unique<Implementation>(std::move(options), session)) {}

Server::~Server() {
  implementation_->session_.stop();
  implementation_->acceptor_.close();
  const auto connections = implementation_->connections_;
  for (const auto& [id, connection] : connections) connection->end();
  // What was posted or aborted is let go of while there is still something to refer to.
  implementation_->io_.restart();
  implementation_->io_.poll();
}

std::uint16_t Server::port() const { return implementation_->acceptor_.local_endpoint().port(); }

std::string Server::address() const {
  const auto endpoint = implementation_->acceptor_.local_endpoint();
  const auto address = endpoint.address();
  if (address.is_unspecified()) return fmt::format("http://127.0.0.1:{}/", endpoint.port());
  const std::string host = address.is_v6() ? '[' + address.to_string() + ']' : address.to_string();
  return fmt::format("http://{}:{}/", host, endpoint.port());
}

void Server::run() { implementation_->io_.run(); }

void Server::stop() { implementation_->io_.stop(); }

void Server::on_news() {
  if (implementation_->news_posted_.exchange(true)) return;
  asio::post(implementation_->io_, [server = implementation_.get()] {
    server->news_posted_ = false;
    const auto connections = server->connections_;
    for (const auto& [id, connection] : connections) connection->pump();
  });
}

void Server::send_text(ClientId client, std::string message) {
  asio::post(implementation_->io_, [server = implementation_.get(), client, message = std::move(message)]() mutable {
    if (const auto found = server->connections_.find(client); found != server->connections_.end())
      std::shared_ptr(found->second)->queue(true, std::move(message));
  });
}

void Server::send_binary(ClientId client, std::string message) {
  asio::post(implementation_->io_, [server = implementation_.get(), client, message = std::move(message)]() mutable {
    if (const auto found = server->connections_.find(client); found != server->connections_.end())
      std::shared_ptr(found->second)->queue(false, std::move(message));
  });
}

void Server::send_text_to_all(std::string message) {
  asio::post(implementation_->io_, [server = implementation_.get(), message = std::move(message)] {
    const auto connections = server->connections_;
    for (const auto& [id, connection] : connections) connection->queue(true, message);
  });
}

void Server::welcome(ClientId client) {
  asio::post(implementation_->io_, [server = implementation_.get(), client] {
    if (const auto found = server->connections_.find(client); found != server->connections_.end())
      std::shared_ptr(found->second)->welcome();
  });
}

}  // namespace pliant::view
