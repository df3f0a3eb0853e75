import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { MessagesSquare, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import type { Bot } from "@/api/types";
import { Button, IconButton } from "@/ui/Button";
import { loadMarkdown } from "@/ui/Markdown";
import { useShortcut } from "@/ui/shortcuts";
import { Conversation } from "./Conversation";
import { SessionList } from "./SessionList";

/** The chat of a bot: its conversations and the open one. */
export function ChatTab({ bot, sessionId }: { bot: Bot; sessionId?: string | undefined }) {
  const [isListOpen, openList] = useState(false);
  const navigate = useNavigate();
  const begin = () => {
    openList(false);
    void navigate({ to: "/bots/$slug/chat/{-$sessionId}", params: { slug: bot.slug, sessionId: undefined } });
  };
  useEffect(() => void loadMarkdown(), []);
  useShortcut("c", { label: "New conversation", group: "Chat" }, begin);
  const list = <SessionList bot={bot} sessionId={sessionId} begin={begin} onChosen={() => openList(false)} />;
  return (
    <div className="flex h-full min-h-0">
      <aside
        aria-label="Conversations"
        className="flex w-60 shrink-0 flex-col border-r border-line max-md:hidden"
      >
        {list}
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center gap-1 border-b border-line px-2 py-1 md:hidden">
          <Button look="ghost" onClick={() => openList(true)}>
            <MessagesSquare size={14} aria-hidden /> Conversations
          </Button>
          <IconButton label="New conversation" className="ml-auto" onClick={begin}>
            <Plus size={16} aria-hidden />
          </IconButton>
        </div>
        <Conversation bot={bot} sessionId={sessionId} />
      </div>
      <Dialog.Root open={isListOpen} onOpenChange={openList}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
          <Dialog.Popup
            aria-label="Conversations"
            className="fixed inset-y-0 left-0 z-50 flex w-[300px] max-w-[85vw] flex-col border-r border-line bg-surface shadow-2xl outline-none"
          >
            {list}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  );
}
