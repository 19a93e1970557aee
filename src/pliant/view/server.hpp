#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "pliant/view/session.hpp"

namespace pliant::view {

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< an address of this machine; 0.0.0.0 and :: are all of them
  std::uint16_t port = 0;          ///< 0: any that is free
  std::filesystem::path page;      ///< a folder with the page's files; empty: those built in
};

/// Serves the page over HTTP and a session over WebSockets (docs/viewer-protocol.md). All of it runs in one thread,
/// that of run(); the session has its own. A client that is slow gets fewer frames, one that takes no messages is
/// dropped, and none of them is ever waited for.
class Server final : public Carrier {
 public:
  /// Listens from here on. Throws InputError when the address cannot be had.
  Server(ServerOptions options, Session& session);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// "http://127.0.0.1:8080/"
  std::string address() const;
  /// Until stop().
  void run();
  /// From any thread, also before run().
  void stop();

  void on_news() override;
  void send_text(ClientId client, std::string message) override;
  void send_binary(ClientId client, std::string message) override;
  void send_text_to_all(std::string message) override;
  void welcome(ClientId client) override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant::view
