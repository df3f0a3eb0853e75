import { createContext, useContext, useSyncExternalStore } from "react";
import type { LiveClient, LiveStatus } from "./live";

export const LiveContext = createContext<LiveClient | null>(null);

export function useLive(): LiveClient {
  const live = useContext(LiveContext);
  if (!live) throw new Error("useLive needs a LiveContext above it.");
  return live;
}

export function useLiveStatus(): LiveStatus {
  const live = useLive();
  return useSyncExternalStore(live.watch, () => live.status);
}
