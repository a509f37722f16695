// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// What is set aside (model.js), until someone asks for it.
import {h} from "./dom.js";
import * as state from "./state.js";
import * as f from "./format.js";

export const visible = (list) => (state.get("all") ? list : list.filter((s) => !s.aside));

// Says what of a list is not shown, with a button that shows it; nothing where nothing is aside.
export function asideNote(list, redraw) {
  const names = (kind) => [...new Set(list.filter((s) => s.aside === kind).map((s) => s.provider))].sort();
  const [self, absent] = [names("self"), names("absent")];
  if (!self.length && !absent.length) return null;
  const all = Boolean(state.get("all"));
  const some = (list_) => f.short(list_.slice(0, 8).join(", ") + (list_.length > 8 ? ", …" : ""), 120);
  const parts = [
    self.length ? "comparisons of a thing with itself: " + some(self) : "",
    absent.length ? "measured nowhere: " + some(absent) : ""
  ].filter(Boolean);
  return h(
      "p", {class: "note aside"}, (all ? "Shown as well, " : "Not shown, ") + parts.join("; ") + ". ",
      h("button", {
        type: "button",
        class: "mini",
        onclick: () => {
          state.set({all: all ? "" : "1"});
          redraw();
        }
      },
        all ? "Hide" : "Show"));
}
