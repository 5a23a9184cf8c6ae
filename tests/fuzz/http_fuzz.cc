// HTTP requests, as the bytes of a connection to a server whose handler answers with the body. A connection
// that is closed without an answer is an answer, too; one that stays open is a finding (-timeout of
// libFuzzer).
#include <arpa/inet.h>
#include <sys/socket.h>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server().port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0 || ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    std::abort();
  const linger reset{.l_onoff = 1, .l_linger = 0};  // no ports in TIME_WAIT, of which there are 28,000
  ::setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
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
