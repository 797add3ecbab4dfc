#include "web_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace semel::bench {

namespace {

std::string nginx_config(const std::string& folder, int up, int proxy) {
    const std::string user = ::geteuid() == 0 ? "user root;\n" : "";
    std::string temporary;
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        temporary += std::string{"  "} + kind + "_temp_path " + folder + "/" + kind + ";\n";
    }
    return user + "daemon off;\nworker_processes 2;\npid " + folder + "/nginx.pid;\nerror_log " +
           folder + "/error.log warn;\nevents { worker_connections 4096; }\nhttp {\n" +
           "  access_log off;\n  keepalive_requests 10000000;\n" + temporary +
           "  upstream up { server 127.0.0.1:" + std::to_string(up) +
           "; keepalive 128; keepalive_requests 10000000; }\n"
           "  server { listen 127.0.0.1:" +
           std::to_string(up) +
           "; location / { default_type application/json; return 201 "
           "'{\"id\":\"ord_0123456789\",\"status\":\"created\",\"amount\":1999,\"currency\":"
           "\"EUR\"}'; } }\n"
           "  server { listen 127.0.0.1:" +
           std::to_string(proxy) +
           "; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header "
           "Connection \"\"; } }\n}\n";
}

constexpr const char* script_text = R"lua(
local mode, run = os.getenv("SEMEL_MODE"), os.getenv("SEMEL_RUN")
local head, tail = '{"customer":42,"amount":1999,"currency":"EUR","note":"', '"}'
local body = head .. string.rep("x", 256 - #head - #tail) .. tail
local threads = 0
local n = 0
function setup(thread) thread:set("number", threads); threads = threads + 1 end
function request()
  n = n + 1
  local headers = { ["Content-Type"] = "application/json" }
  if mode == "fresh" then headers["Idempotency-Key"] = run .. "-" .. number .. "-" .. n
  elseif mode == "known" then headers["Idempotency-Key"] = run .. "-" .. (n % 1000) end
  return wrk.format("POST", "/orders", headers, body)
end
function done(summary)
  local errors = summary.errors
  io.write(string.format("semel %f %d\n", summary.requests / (summary.duration / 1e6),
    errors.status + errors.read + errors.write + errors.connect + errors.timeout))
end
)lua";

const char* name_of(web_keys keys) {
    switch (keys) {
    case web_keys::none: return "none";
    case web_keys::fresh: return "fresh";
    case web_keys::known: return "known";
    }
    return "";
}

void write_file(const std::filesystem::path& file, const std::string& text) {
    if (!(std::ofstream{file, std::ios::trunc} << text).flush()) {
        throw std::runtime_error{"cannot write " + file.string()};
    }
}

} // namespace

nginx::nginx(const std::filesystem::path& folder) {
    const auto file = folder / "nginx.conf";
    write_file(file, nginx_config(folder.string(), up_, proxy_));
    running_ = std::make_unique<child_process>(
        std::vector<std::string>{"nginx", "-c", file.string()}, folder / "nginx.out");
    wait_for_port(proxy_);
}

wrk::wrk(const std::filesystem::path& folder) : script_(folder / "load.lua") {
    write_file(script_, script_text);
}

double wrk::rate(const std::string& url, web_keys keys, const std::string& name,
                 seconds length) const {
    const long whole = std::max(1L, std::lround(length.count()));
    const std::string command = std::string{"SEMEL_MODE="} + name_of(keys) + " SEMEL_RUN=" + name +
                                " wrk -t2 -c64 -d" + std::to_string(whole) + "s -s '" +
                                script_.string() + "' " + url;
    FILE* const from = ::popen(command.c_str(), "r");
    if (from == nullptr) throw std::runtime_error{"wrk does not run"};
    double found = 0;
    long errors = -1;
    char line[1'024];
    while (std::fgets(line, sizeof line, from) != nullptr) {
        std::sscanf(line, "semel %lf %ld", &found, &errors);
    }
    if (::pclose(from) != 0)
        throw std::runtime_error{"wrk failed; `tools/setup bench` installs it"};
    if (errors != 0) throw std::runtime_error{std::to_string(errors) + " errors at " + url};
    return found;
}

} // namespace semel::bench
