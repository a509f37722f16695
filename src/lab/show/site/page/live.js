// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Asks the server for newer data, while the page is looked at.

const EVERY_MS = 1000;

export async function follow(onData, onTrouble) {
  let tag = "";
  for (;;) {
    if (!document.hidden || !tag) {
      try {
        const answer =
            await fetch("data.json", {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
        if (answer.status === 200) {
          tag = answer.headers.get("ETag") || "";
          onData(await answer.json());
        } else if (answer.status !== 304) {
          throw new Error(`the server answered ${answer.status}`);
        }
        onTrouble("");
      } catch (error) {
        onTrouble(String(error.message || error));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
