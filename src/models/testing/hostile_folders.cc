// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// hostile_folders COUNT SEED: folders of models with bytes of their files changed, cut off,
// repeated or taken from elsewhere. Each is read, and then also run, or refused in one line that
// names a file in it. In one of four the header of the weights tells a lie about one tensor: the
// line names that tensor too. Anything else ends this program with status 1 or worse.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/philox.h"
#include "models/testing/model_folder.h"

namespace {

using namespace assay;          // NOLINT: a program of one file
using namespace assay::models;  // NOLINT

class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : stream_(seed) {}
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(uniform_below(stream_[drawn_++], bound));
  }
  // Most files are mostly numbers that may be anything: what is at the beginning is meant.
  bool is_lie() { return below(4) == 0; }
  void change(std::string& text) {
    const auto head = std::max<std::size_t>(1, std::min<std::size_t>(text.size(), 6000));
    const auto at = text.empty() ? 0 : below(head);
    switch (below(10)) {
      case 0:
        if (!text.empty()) text.resize(below(text.size()));
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(below(head), below(40)));
        break;
      case 3:
        text.insert(at, "99999999999999999999", 1 + below(20));
        break;
      case 4:
        text.append(1 + below(9), static_cast<char>(below(256)));
        break;
      case 5:
      case 6:
        if (!text.empty()) text[at] = static_cast<char>(below(256));
        break;
      default: {  // one number for another
        const auto digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(10));
      }
    }
  }

 private:
  Philox stream_;
  std::uint64_t drawn_ = 0;
};

using Files = std::map<std::string, std::string>;

// A .safetensors file: eight bytes with the header's length, the header, the numbers.
struct Weights {
  explicit Weights(const std::string& text) {
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), sizeof length);
    header = parse_json(text.substr(sizeof length, length), "weights");
    numbers = text.substr(sizeof length + length);
  }
  std::string text() const {
    const auto written = canonical_json(header);
    const std::uint64_t length = written.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + written + numbers;
  }
  // Without it and its numbers, as if it had never been there.
  void remove(const std::string& name) {
    const auto begin = header[name]["data_offsets"][0].get<std::size_t>();
    const auto count = header[name]["data_offsets"][1].get<std::size_t>() - begin;
    header.erase(name);
    numbers.erase(begin, count);
    for (auto& [other, tensor] : header.items()) {
      if (other == "__metadata__" || tensor["data_offsets"][0] < begin) continue;
      for (auto& offset : tensor["data_offsets"]) offset = offset.get<std::size_t>() - count;
    }
  }
  Json header;
  std::string numbers;
};

// Says something untrue of one tensor in one of the files with weights; returns its name.
std::string tell_lie(Files& files, Mutations& chance) {
  std::vector<std::string> shards;
  for (const auto& [name, text] : files) {
    if (name.ends_with(".safetensors")) shards.push_back(name);
  }
  auto& text = files.at(shards[chance.below(shards.size())]);
  Weights weights(text);
  std::vector<std::string> names;
  for (const auto& item : weights.header.items()) {
    if (item.key() != "__metadata__") names.push_back(item.key());
  }
  const auto name = names[chance.below(names.size())];
  auto& tensor = weights.header[name];
  switch (chance.below(9)) {
    case 0:
      weights.remove(name);
      break;
    case 1:
      weights.header[name + "x"] = tensor;
      weights.header.erase(name);
      break;
    case 2:
      tensor["dtype"] = chance.below(2) == 0 ? "F64" : "Q4";
      break;
    case 3:
      tensor["shape"].push_back(2);
      break;
    case 4:
      tensor["shape"][0] = tensor["shape"][0].get<std::int64_t>() + 1;
      break;
    case 5:
      tensor["shape"] = {std::int64_t{1} << 62, 4, 4};
      break;
    case 6:
      tensor["data_offsets"][1] = weights.numbers.size() + 2;
      break;
    case 7:
      std::swap(tensor["data_offsets"][0], tensor["data_offsets"][1]);
      break;
    default:
      tensor["data_offsets"] = "none";
  }
  text = weights.text();
  return name;
}

Files files_of(Family family) {
  auto config = config_of_size(family, "tiny", "bfloat16");
  // As small as it goes: many are made.
  const bool is_gemma = config.contains("layer_types");
  config["num_hidden_layers"] = is_gemma ? 2 : 1;
  if (is_gemma) config["layer_types"] = {"sliding_attention", "full_attention"};
  config["vocab_size"] = 40;
  config["eos_token_id"] = 3;
  const ModelFolder folder(config, {.shard_bytes = family == Family::kLlama ? 20'000 : 1 << 30});
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

int run(int count, std::uint64_t seed) {
  Mutations chance(seed);
  std::vector<Files> models;
  for (const auto family : kAllFamilies) models.push_back(files_of(family));
  const TemporaryDirectory directory("assay-hostile");
  int refused = 0, ran = 0;
  for (int i = 0; i < count; ++i) {
    auto files = models[chance.below(models.size())];
    std::string liar;
    if (chance.is_lie()) liar = tell_lie(files, chance);
    for (auto changes = liar.empty() ? 1 + chance.below(3) : 0; changes > 0; --changes) {
      auto at = std::next(files.begin(), static_cast<std::ptrdiff_t>(chance.below(files.size())));
      chance.change(at->second);
    }
    const auto path = directory.path() + "/" + std::to_string(i);
    make_directories(path);
    for (const auto& [name, text] : files) write_file_atomically(path + "/" + name, text);
    try {
      const LoadedModel model(path);
      const auto context = std::min<std::int64_t>(4, model.config.max_positions);
      auto session = session_of(model, {.context = context, .chunk = context}, 1);
      session.extend(std::vector<std::int64_t>{0});
      ++ran;
      if (!liar.empty()) {
        std::fprintf(stderr, "%s: runs, with a lie about tensor '%s'\n", path.c_str(),
                     liar.c_str());
        return 1;
      }
    } catch (const UserError& e) {
      const std::string text = e.what();
      // One line that says where.
      if (text.find('\n') != std::string::npos || text.find(path) == std::string::npos ||
          text.find(liar) == std::string::npos) {
        std::fprintf(stderr, "%s: refused by: %s\n", path.c_str(), text.c_str());
        return 1;
      }
      ++refused;
    }
    std::filesystem::remove_all(path);
  }
  std::printf("%d refused, %d run\n", refused, ran);
  return refused > count / 2 && ran > count / 50 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) fail("hostile_folders COUNT SEED");
    return run(std::stoi(argv[1]), std::stoull(argv[2]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "hostile_folders: %s\n", e.what());
    return 2;
  }
}
