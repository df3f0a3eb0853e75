import { useState } from "react";

/** The two ways through the same interview. */
export type Way = "wizard" | "chat";

const KEY = "forge.interview.way";

/** The one that was chosen last, on this machine. */
export function useWay(): [Way, (way: Way) => void] {
  const [way, setWay] = useState<Way>(read);
  const choose = (chosen: Way) => {
    setWay(chosen);
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // A browser that keeps nothing forgets this, too.
    }
  };
  return [way, choose];
}

function read(): Way {
  try {
    return localStorage.getItem(KEY) === "chat" ? "chat" : "wizard";
  } catch {
    return "wizard";
  }
}
