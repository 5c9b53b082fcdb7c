// What the engine says, as text: to compare it with what the twin says, and to show it. Replies
// look as in transcripts. Every field that means something is there.
#pragma once

#include <string>

#include "xylem/core/record.h"
#include "xylem/core/reply.h"

namespace xylem::simulation {

// "A< INSERTED 5": as transcripts write it; `details` are those of a reply kOk.
std::string text_of(const Reply& reply, const ReplyDetails& details);
std::string text_of(const Record& record);
std::string text_of(const EngineStats& stats);

// A client's name in a transcript.
std::string name_of(ClientId id);

// As transcripts write it: "job-7-{h*200}".
std::string body_text(std::string_view body);

}  // namespace xylem::simulation
