// A raw HTTP connection for tests of the server, which can also send malformed requests.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "eventually.h"

namespace heed {

struct HttpAnswer {
  int status = 0;                              ///< 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
};

class HttpConnection {
 public:
  explicit HttpConnection(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  ~HttpConnection() { ::close(socket_); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Whether all of it was sent.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// The next response; responses to HEAD have no body.
  HttpAnswer receive(bool head_only = false) {
    HttpAnswer answer;
    size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return answer;
    }
    const std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    answer.status = std::stoi(head.substr(9, 3));
    if (answer.status == 100) return receive(head_only);
    for (size_t at = head.find("\r\n") + 2; at < head.size();) {
      const size_t line_end = head.find("\r\n", at), colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      answer.headers[name] = head.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    if (head_only) return answer;
    if (answer.headers.contains("content-length")) {
      answer.body = take(std::stoul(answer.headers["content-length"]));
    } else if (answer.headers.contains("transfer-encoding")) {
      while (const size_t size = std::stoul(take_line(), nullptr, 16)) {
        answer.body += take(size);
        take(2);
      }
      take(2);
    }
    return answer;
  }

  /// The bytes of the next response that are there, once there are some.
  std::string peek() {
    while (buffer_.size() < 12 && read_more()) {
    }
    return buffer_;
  }
  /// Whether the connection ends with a reset, not as after a whole response.
  bool is_reset() const {
    char bytes[4096];
    ssize_t count = 0;
    while ((count = ::recv(socket_, bytes, sizeof bytes, 0)) > 0) {
    }
    return count < 0 && errno == ECONNRESET;
  }
  /// Whether the server closes the connection within the time; ignores data sent before.
  bool ends_within(double seconds = kPatience) {
    pollfd wanted{socket_, POLLIN, 0};
    while (::poll(&wanted, 1, static_cast<int>(seconds * 1000)) > 0) {
      if (!read_more()) return true;
    }
    return false;
  }

  HttpAnswer get(const std::string& path, const std::string& headers = "") {
    send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return receive();
  }
  HttpAnswer post(const std::string& path, const std::string& body,
                  const std::string& headers = "Content-Type: application/json\r\n",
                  const std::string& host = "localhost") {
    send("POST " + path + " HTTP/1.1\r\nHost: " + host +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
    return receive();
  }
  HttpAnswer post(const std::string& path, const nlohmann::json& json) { return post(path, json.dump()); }

 private:
  bool read_more() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(count));
    return true;
  }
  std::string take(size_t count) {
    while (buffer_.size() < count) {
      if (!read_more()) break;
    }
    std::string taken = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return taken;
  }
  std::string take_line() {
    size_t end = 0;
    while ((end = buffer_.find("\r\n")) == std::string::npos) {
      if (!read_more()) return "0";
    }
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    return line;
  }

  int socket_;
  std::string buffer_;
};

}  // namespace heed
