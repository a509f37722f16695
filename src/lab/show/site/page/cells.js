// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Cells that several tables share.
import {h} from "./dom.js";

// What a verdict or a status says, as a class of the style sheet; none where it is neither.
export const TONE = {
  faster: "good",
  slower: "bad",
  wrong_result: "bad",
  crashed: "bad",
  failed: "bad",
  out_of_memory: "bad",
  timeout: "bad"
};

// A run's commit, as a link where there is a place to look at it.
export function commit(model, run) {
  const url = model.commitUrl(run);
  const text = h("code", {}, model.commit(run));
  return url ? h("a", {href: url, target: "_blank", rel: "noopener noreferrer"}, text) : text;
}

export function verdict(s) {
  const caveats = [
    ...(s.failure ? [s.failure] : []), ...(s.caveats || []),
    ...(s.modes ? ["attempts are bimodal"] : [])
  ];
  return [
    h("span", {class: "clip verdict " + (TONE[s.class] || ""), title: [s.verdict, ...caveats].join("; ")},
      s.verdict),
    s.modes ?
        h("span",
          {class: "tag", title: "attempts are bimodal: their median says where the larger mode lies"},
          "bimodal") :
        null,
    caveats.length && !s.modes && s.status === "ok" ?
        h("abbr", {class: "mark", title: caveats.join("; "), "aria-label": caveats.join("; ")}, "*") :
        null
  ];
}
