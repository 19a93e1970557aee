#include "pliant/view/server.hpp"

#include <gtest/gtest.h>

#include <random>

#include "client.hpp"
#include "scenes.hpp"

namespace pliant::view {
namespace {

using testing::Client;
using testing::DecodedFrame;
using Json = nlohmann::json;
using namespace std::chrono_literals;

struct Serving {
  explicit Serving(const std::string& name)
      : folder(testing::folder_with(name, "beam.toml", testing::kBeam)),
        session({folder / "beam.toml", {}, {}}),
        server({}, session) {
    session.open_given();
    session.start(server);
    thread = std::thread([this] { server.run(); });
  }
  ~Serving() {
    server.stop();
    thread.join();
  }
  std::filesystem::path folder;
  Session session;
  Server server;
  std::thread thread;
};

/// The answer to a request as it goes over the wire.
std::string http(std::uint16_t port, const std::string& request) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io);
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  std::string answer;
  boost::system::error_code error;  // a server that has read enough may close at any time
  boost::asio::write(socket, boost::asio::buffer(request), error);
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
  return answer;
}
std::string get(std::uint16_t port, const std::string& target, const std::string& more = "") {
  return http(port, "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                        "\r\nConnection: close\r\n" + more + "\r\n");
}

/// The status that a browser which asks for a WebSocket gets.
std::string upgrade(std::uint16_t port, const std::string& host, const std::string& origin = "",
                    const std::string& target = "/ws") {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io);
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  const std::string request =
      "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
      "dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  boost::asio::write(socket, boost::asio::buffer(request));
  std::string answer;
  boost::system::error_code error;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(answer), "\r\n", error);
  return answer.substr(9, 3);
}

TEST(Server, GreetsInTheOrderOfTheProtocolAndSendsFrames) {
  const Serving serving("server_greets");
  Client client(serving.server.port());
  std::vector<std::string> order;
  while (order.size() < 8) {
    const auto received = client.receive();
    ASSERT_TRUE(received);
    order.push_back(received->is_text ? Json::parse(received->bytes)["type"].get<std::string>()
                                      : std::to_string(received->bytes[0]));
    client.acknowledge(*received);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"hello", "scenes", "scene", "play", "1", "2", "telemetry", "3"}));
  double time = -1;
  for (int k = 0; k < 10; ++k) {
    const auto frame = client.next_frame();
    ASSERT_TRUE(frame);
    EXPECT_GT(frame->time, time);
    time = frame->time;
  }
}

TEST(Server, SendsTwoFramesAheadAndThenTheLatest) {
  const Serving serving("server_latest");
  Client client(serving.server.port());
  std::vector<std::uint32_t> frames;
  const auto end = std::chrono::steady_clock::now() + 600ms;
  while (std::chrono::steady_clock::now() < end)
    if (const auto received = client.receive(100ms); received && !received->is_text && received->bytes[0] == 3)
      frames.push_back(DecodedFrame(received->bytes).number);
  ASSERT_EQ(frames.size(), 2U);
  client.send({{"type", "seen"}, {"frame", frames.back()}});
  const auto next = client.next_frame();
  ASSERT_TRUE(next);
  EXPECT_GT(next->number, frames.back() + 3);
}

TEST(Server, RefusesForeignHostsAndOrigins) {
  const Serving serving("server_foreign");
  const std::uint16_t port = serving.server.port();
  const std::string at = ":" + std::to_string(port);
  EXPECT_EQ(upgrade(port, "localhost" + at, "http://localhost" + at), "101");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "http://127.0.0.1" + at), "101");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at), "101");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "http://evil.example"), "403");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "http://localhost" + at), "403");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "https://127.0.0.1" + at), "403");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "null"), "403");
  EXPECT_EQ(upgrade(port, "evil.example" + at), "403");
  EXPECT_EQ(upgrade(port, "evil.example" + at, "http://evil.example" + at), "403");
  EXPECT_EQ(upgrade(port, "127.0.0.1:1"), "403");
  EXPECT_EQ(upgrade(port, "127.0.0.1" + at, "", "/other"), "404");
  EXPECT_TRUE(http(port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(http(port, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
}

TEST(Server, ServesThePageAndNoOtherFile) {
  const Serving serving("server_page");
  const std::uint16_t port = serving.server.port();
  const std::string page = get(port, "/");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200"));
  EXPECT_NE(page.find("Content-Type: text/html"), std::string::npos);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'; script-src 'self'"), std::string::npos);
  EXPECT_NE(page.find("X-Content-Type-Options: nosniff"), std::string::npos);
  for (const char* target : {"/../CMakeLists.txt", "/..%2f..%2fetc/passwd", "/.git", "/a/b", "/%00", "//etc/passwd",
                             "/index.html/..", "/nothing.js"})
    EXPECT_TRUE(get(port, target).starts_with("HTTP/1.1 404")) << target;
  EXPECT_TRUE(http(port, "POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nContent-Length: 0\r\n\r\n")
                  .starts_with("HTTP/1.1 405"));
  EXPECT_EQ(http(port, std::string(100'000, 'a')).find("200"), std::string::npos);
}

TEST(Server, SurvivesTenThousandRandomAndTruncatedMessages) {
  const Serving serving("server_random");
  const std::uint16_t port = serving.server.port();
  auto client = std::make_unique<Client>(port);
  const std::vector<std::string> good = {
      R"({"type": "move", "hand": 2, "target": [1, 2.5, -3], "stamp": 41})",
      R"({"type": "solver", "view": 1, "name": "newton", "parameters": {"tolerance": 0.5}})",
      R"({"type": "compare", "on": true, "name": "xpbd"})",
      R"({"type": "gravity", "value": [0, -9.81, 0]})",
      R"({"type": "cut", "point": [1, 0, 0], "normal": [1, 0, 0], "space": "now", "radius": 1})",
      R"({"type": "pin", "triangle": 3, "weights": [0.2, 0.3, 0.5]})",
      R"({"type": "unpin_all"})",
      R"({"type": "colour", "by": "stress"})",
      R"({"type": "reset"})",
      R"({"type": "seen", "frame": 5})",
      R"({"type": "grab", "hand": 0, "view": 0, "triangle": 3, "weights": [0.2, 0.3, 0.5]})"};
  std::mt19937 random(7);
  int errors = 0;
  const auto ping = [&](int stamp) {
    client->send({{"type", "ping"}, {"stamp", stamp}});
    while (const auto received = client->receive(60s)) {
      client->acknowledge(*received);
      if (!received->is_text) continue;
      const Json json = Json::parse(received->bytes);
      errors += json["type"] == "error";
      if (json["type"] == "pong") return json["stamp"] == stamp;
    }
    return false;
  };
  for (int k = 0; k < 10'000; ++k) {
    std::string text = good[random() % good.size()];
    switch (random() % 4) {
      case 0:
        for (char& c : text) c = static_cast<char>(random() % 128);
        break;
      case 1:
        text.resize(random() % text.size());
        break;
      case 2:
        for (int c = 0; c < 3; ++c) text[random() % text.size()] = static_cast<char>(32 + random() % 95);
        break;
      default:
        if (random() % 50 != 0) text = R"({"type": "move", "hand": 0, "target": [1, 1, 1]})";  // good ones take time
    }
    if (random() % 4 == 0) {
      for (char& c : text) c = static_cast<char>(random() % 256);
      text[0] = static_cast<char>(random() % 8);
      ASSERT_TRUE(client->send_binary(text));
    } else {
      ASSERT_TRUE(client->send_text(text));
    }
    if (k % 500 == 499) {
      ASSERT_TRUE(ping(k)) << "after " << k << " messages";
    }
  }
  EXPECT_GT(errors, 5000);
  // Text that is no text ends a connection, as the protocol of WebSockets has it; so do frames that are none.
  for (int k = 0; k < 50; ++k) {
    Client other(port);
    other.send_text("\xff\xfe{}");
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io);
    socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    std::string noise(200, ' ');
    for (char& c : noise) c = static_cast<char>(random() % 256);
    boost::asio::write(socket, boost::asio::buffer(noise));
  }
  EXPECT_TRUE(ping(77));
}

TEST(Server, EndsAConnectionThatSendsAMessageTooLarge) {
  const Serving serving("server_large");
  Client client(serving.server.port());
  ASSERT_TRUE(client.wait_for("play"));
  client.send_text(R"({"type": ")" + std::string(200'000, 'x') + "\"}");
  while (client.receive(5s)) {
  }
  EXPECT_TRUE(client.ended());
  Client other(serving.server.port());
  EXPECT_TRUE(other.next_frame());
}

TEST(Server, LetsFasterMessagesWait) {
  const Serving serving("server_rate");
  Client client(serving.server.port());
  ASSERT_TRUE(client.wait_for("play"));
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 6000; ++k) client.send_text(R"({"type": "move", "hand": 0, "target": [1, 1, 1]})");
  client.send({{"type", "ping"}, {"stamp", 5}});
  ASSERT_TRUE(client.wait_for("pong", 60s));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 1500ms);  // 6000 at 2000 a second, the first 2000 at once
}

TEST(Server, GoesOnWhenAClientNeverReads) {
  const Serving serving("server_deaf");
  Client deaf(serving.server.port()), other(serving.server.port());
  for (int k = 0; k < 500; ++k) deaf.send_text("{}");  // each is answered, and nobody takes the answers
  std::uint32_t step = 0;
  for (int k = 0; k < 30; ++k) {
    const auto frame = other.next_frame();
    ASSERT_TRUE(frame);
    EXPECT_GE(frame->step, step);
    step = frame->step;
  }
  EXPECT_GT(step, 20U);
}

TEST(Server, TakesEightClientsAndTellsTheNinth) {
  const Serving serving("server_many");
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 8; ++k) {
    clients.push_back(std::make_unique<Client>(serving.server.port()));
    ASSERT_TRUE(clients.back()->wait_for("play"));
  }
  const std::string host = "127.0.0.1:" + std::to_string(serving.server.port());
  EXPECT_EQ(upgrade(serving.server.port(), host), "503");
  clients.pop_back();
  std::string status;
  for (int k = 0; k < 100 && status != "101"; ++k) {
    std::this_thread::sleep_for(20ms);
    status = upgrade(serving.server.port(), host);
  }
  EXPECT_EQ(status, "101");
}

TEST(Server, ADragMovesTheVertexThatTheClientSees) {
  const Serving serving("server_drag");
  Client client(serving.server.port());
  ASSERT_TRUE(client.next_frame());
  client.send({{"type", "strength"}, {"value", 10000}});
  client.send({{"type", "grab"}, {"hand", 0}, {"ray", {{"eye", {2, 5, 1}}, {"direction", {0, -1, 0}}}}});
  const auto missed = client.receive();
  ASSERT_TRUE(missed);
  client.send({{"type", "grab"}, {"hand", 0}, {"ray", {{"eye", {1.99, 5, 0.99}}, {"direction", {0, -1, 0}}}}});
  const auto grabbed = client.wait_for("grabbed");
  ASSERT_TRUE(grabbed);
  client.send({{"type", "move"}, {"hand", 0}, {"target", {1.99, 1.2, 0.99}}, {"stamp", 9}});
  // The vertex at the corner that was grabbed, wherever it is in the list.
  double highest = 0;
  for (int k = 0; k < 200; ++k) {
    const auto frame = client.next_frame();
    ASSERT_TRUE(frame);
    if (frame->stamp != 9) continue;
    highest = 0;
    for (std::size_t v = 0; v < frame->vertices; ++v) highest = std::max(highest, frame->position(v)[1]);
  }
  EXPECT_NEAR(highest, 1.2, 0.02);
}

}  // namespace
}  // namespace pliant::view
