// HTTP requests, as the bytes of a connection to a server whose handler answers with the body. A connection
// that is closed without an answer is an answer, too; one that stays open is a finding (-timeout of
// libFuzzer).
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>

#include "fuzz.h"
#include "serve/http/http_server.h"

namespace {

heed::serve::HttpServer& server() {
  static heed::serve::HttpServer one(
      {.head_bytes = 2048, .head_seconds = 1, .body_bytes = 4096, .body_seconds = 1, .idle_seconds = 1},
      [](const heed::serve::HttpRequest& request, const std::shared_ptr<heed::serve::HttpReply>& reply) {
        (void)heed::serve::percent_decode(request.query, true);
        reply->send({.body = request.body});
      },
      [](const heed::serve::HttpRecord&) {});
  static const bool started = (one.start(), true);
  (void)started;
  return one;
}

sockaddr_in loopback(uint32_t address, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  result.sin_addr.s_addr = htonl(address);
  return result;
}

/// From one address of the loopback network after the other: each has 28,000 ports, which wait for a minute
/// (TIME_WAIT) where the client has closed its side first. Tries again where libFuzzer's timer interrupts it.
int connect_to_server() {
  static uint32_t connections = 0;
  constexpr uint32_t kAddresses = 200;
  const sockaddr_in from = loopback(INADDR_LOOPBACK + connections++ % kAddresses, 0),
                    to = loopback(INADDR_LOOPBACK, server().port());
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0 || ::bind(client, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      ::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (errno == EINTR) {
      ::close(client);
      return connect_to_server();
    }
    std::perror("http_fuzz: no connection to the server");
    std::abort();
  }
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  return client;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const int client = connect_to_server();
  for (size_t sent = 0; sent < size;) {
    const ssize_t n = ::send(client, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  ::shutdown(client, SHUT_WR);
  char answer[4096];
  while (::recv(client, answer, sizeof answer, 0) > 0) {
  }
  ::close(client);
  return 0;
}
