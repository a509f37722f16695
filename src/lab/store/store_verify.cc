// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

class Verification : public Inspector {
 public:
  std::vector<Problem> run(Database& db) {
    try {
      // One snapshot for all that follows; other processes may be writing.
      Transaction transaction(db, Database::Kind::kRead);
      db.inspect(*this);
    } catch (const std::exception& error) {
      problem({}, {}, error.what());
    }
    check_order();
    return std::move(problems_);
  }

  void problem(const std::string& run_id, const std::string& attempt_id,
               const std::string& message) override {
    problems_.push_back({run_id, attempt_id, message});
  }

  void row(const Record& stored) override {
    const std::string run_id(stored.text(0)), attempt_id(stored.text(1));
    places_[run_id].push_back({stored.number(kColumnCount), attempt_id});
    try {
      const auto columns =
          columns_of_line(stored.text(kColumnCount + 1), [] { return "its line"; });
      if (const char* column = differing_column(stored, columns)) {
        fail("column '{}' does not agree with the line", column);
      }
    } catch (const std::exception& error) {
      problem(run_id, attempt_id, error.what());
    }
  }

 private:
  struct Place {
    std::int64_t sequence;
    std::string attempt_id;
    auto operator<=>(const Place&) const = default;
  };

  void check_order() {
    for (auto& [run_id, places] : places_) {
      std::ranges::sort(places);
      std::set<std::string_view> attempts;
      for (const auto& place : places) {
        if (attempts.insert(place.attempt_id).second) continue;
        problem(run_id, place.attempt_id, "is there twice");
      }
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].sequence == static_cast<std::int64_t>(i)) continue;
        problem(run_id, places[i].attempt_id,
                fmt::format("stands at place {} of its run, where place {} is expected",
                            places[i].sequence, i));
        break;
      }
    }
  }

  std::vector<Problem> problems_;
  std::map<std::string, std::vector<Place>> places_;  // by run
};

}  // namespace

std::vector<Problem> Store::verify() { return Verification().run(*db_); }

}  // namespace assay::lab
