import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { botQuery } from "@/api/bots";
import { ChatTab } from "../chat/ChatTab";

const route = getRouteApi("/shell/bots/$slug/chat/{-$sessionId}");

export function ChatPage() {
  const { slug, sessionId } = route.useParams();
  const bot = useSuspenseQuery(botQuery(slug)).data;
  return <ChatTab bot={bot} {...(sessionId !== undefined && { sessionId })} />;
}
