#include "cli/command.h"

#include <algorithm>
#include <utility>

namespace treadle::cli {

void register_all(Commands& commands);  // generated from the files of cli/

namespace {

auto place_of(const Command& command) {
  const std::string& name = command.info.name;
  return std::pair(std::count(name.begin(), name.end(), ' '), command.info.place);
}

}  // namespace

void Commands::add(CommandInfo info) { insert({std::move(info)}); }

void Commands::insert(Command command) {
  auto after = std::find_if(commands_.begin(), commands_.end(),
                            [&](const Command& other) { return place_of(other) > place_of(command); });
  commands_.insert(after, std::move(command));
}

Commands all_commands() {
  Commands commands;
  register_all(commands);
  return commands;
}

}  // namespace treadle::cli
