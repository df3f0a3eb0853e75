import { useState } from "react";

/** The two views of an interview. */
export type Way = "wizard" | "chat";

const KEY = "forge.interview.way";

/** The last chosen view, kept in the local storage. */
export function useWay(): [Way, (way: Way) => void] {
  const [way, setWay] = useState<Way>(read);
  const choose = (chosen: Way) => {
    setWay(chosen);
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // Storage is blocked: the choice is not remembered.
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
