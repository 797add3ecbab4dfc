#include "messaging/nats_client.hpp"

#include <stdexcept>

namespace semel::test {

namespace {

void check(natsStatus status, const char* doing) {
    if (status == NATS_OK) return;
    throw std::runtime_error(std::string{doing} + ": " + natsStatus_GetText(status));
}

nats_message read(natsMsg* from) {
    nats_message made;
    made.subject = natsMsg_GetSubject(from);
    made.data.assign(natsMsg_GetData(from), static_cast<std::size_t>(natsMsg_GetDataLength(from)));
    const char** names = nullptr;
    int count = 0;
    if (natsMsgHeader_Keys(from, &names, &count) != NATS_OK) return made;
    for (int i = 0; i < count; ++i) {
        const char* value = nullptr;
        natsMsgHeader_Get(from, names[i], &value);
        made.headers[names[i]] = value;
    }
    std::free(static_cast<void*>(names));
    return made;
}

} // namespace

nats_client::nats_client(const std::string& url) {
    natsConnection* connection = nullptr;
    check(natsConnection_ConnectTo(&connection, url.c_str()), "connect");
    connection_.reset(connection);
    jsCtx* js = nullptr;
    check(natsConnection_JetStream(&js, connection, nullptr), "JetStream");
    js_.reset(js);
}

void nats_client::make_stream(const std::string& name, const std::string& subject,
                              const stream_settings& settings) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subjects[]{subject.c_str()};
    config.Name = name.c_str();
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.MaxMsgs = settings.messages_max;
    config.MaxMsgSize = settings.message_bytes_max;
    config.Discard = js_DiscardNew;
    // nats-server 2.9 removes an account's folder together with its last stream; a stream that
    // another test makes at that moment has nowhere to go, and is made by asking again.
    jsErrCode code{};
    natsStatus status = NATS_OK;
    for (int tries = 0; tries < 10; ++tries) {
        status = js_AddStream(nullptr, js_.get(), &config, nullptr, &code);
        if (status == NATS_OK) return;
        if (code != JSStreamCreateErr) break;
    }
    throw std::runtime_error("stream " + name + ": " + natsStatus_GetText(status) + ", " +
                             std::to_string(code) + ": " + nats_GetLastError(nullptr));
}

void nats_client::delete_stream(const std::string& name) {
    js_DeleteStream(js_.get(), name.c_str(), nullptr, nullptr);
}

void nats_client::purge(const std::string& name) {
    check(js_PurgeStream(js_.get(), name.c_str(), nullptr, nullptr), "purge");
}

std::uint64_t nats_client::count(const std::string& stream) {
    jsStreamInfo* info = nullptr;
    check(js_GetStreamInfo(&info, js_.get(), stream.c_str(), nullptr, nullptr), "stream info");
    const std::uint64_t made = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return made;
}

std::vector<nats_message> nats_client::messages(const std::string& stream) {
    jsStreamInfo* info = nullptr;
    check(js_GetStreamInfo(&info, js_.get(), stream.c_str(), nullptr, nullptr), "stream info");
    const auto first = info->State.FirstSeq;
    const auto last = info->State.LastSeq;
    jsStreamInfo_Destroy(info);
    std::vector<nats_message> made;
    for (auto sequence = first; sequence <= last && sequence > 0; ++sequence) {
        natsMsg* raw = nullptr;
        check(js_GetMsg(&raw, js_.get(), stream.c_str(), sequence, nullptr, nullptr), "message");
        made.push_back(read(nats::message_handle{raw}.get()));
    }
    return made;
}

void nats_client::publish(const std::string& subject, const std::string& data,
                          const std::string& id) {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (!id.empty()) options.MsgId = id.c_str();
    check(js_Publish(nullptr, js_.get(), subject.c_str(), data.data(),
                     static_cast<int>(data.size()), &options, nullptr),
          "publish");
}

std::int64_t nats_client::unacknowledged(const std::string& stream, const std::string& durable) {
    jsConsumerInfo* info = nullptr;
    check(js_GetConsumerInfo(&info, js_.get(), stream.c_str(), durable.c_str(), nullptr, nullptr),
          "consumer info");
    const std::int64_t made = info->NumAckPending;
    jsConsumerInfo_Destroy(info);
    return made;
}

} // namespace semel::test
