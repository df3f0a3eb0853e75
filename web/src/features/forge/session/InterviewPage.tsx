import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Page } from "@/ui/Page";
import { Segmented } from "@/ui/Segmented";
import { useMedia } from "@/ui/useMedia";
import { Chat } from "../chat/Chat";
import { Preview } from "../preview/Preview";
import { useReview } from "../review/useReview";
import { SetUpModel } from "../SetUpModel";
import { wordsOf } from "../turn/words";
import { Wizard } from "../wizard/Wizard";
import { titleOf } from "../words";
import { Discard } from "./Discard";
import { Finished } from "./Finished";
import { Gone } from "./Gone";
import { SpeakerBar } from "./SpeakerBar";
import { useInterview } from "./useInterview";
import { useTalk } from "./useTalk";
import { useWay } from "./way";

const route = getRouteApi("/shell/forge/$sessionId");

const WAYS = [
  { value: "wizard", label: "Wizard" },
  { value: "chat", label: "Chat" },
] as const;
const BESIDE = "(min-width: 1024px)";

/** An interview as wizard or chat, beside a preview of its result. */
export function InterviewPage() {
  const { session, growing, isGone, tell } = useInterview(route.useLoaderData());
  const talk = useTalk(session, tell);
  const [way, setWay] = useWay();
  const [isSettingUp, setSettingUp] = useState(false);
  const review = useReview(session, tell);
  const isBeside = useMedia(BESIDE);

  if (isGone) return <Gone title={titleOf(session)} />;
  const isOpen = session.made === null;
  const parts = { session, growing, talk, review, setUp: () => setSettingUp(true) };
  return (
    <Page
      title={titleOf(session)}
      crumbs={[{ label: "Forge", to: "/forge" }]}
      actions={
        isOpen && (
          <>
            <Segmented label="View" value={way} options={WAYS} onChange={setWay} />
            <Discard sessionId={session.session_id} />
          </>
        )
      }
    >
      <p role="status" className="sr-only">
        {wordsOf(session)}
      </p>
      <div className="flex h-full flex-col">
        {isOpen && <SpeakerBar session={session} talk={talk} setUp={() => setSettingUp(true)} />}
        <div className="flex min-h-0 flex-1 max-lg:flex-col">
          <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
            {!isOpen ? (
              <Finished session={session} made={session.made} review={review} />
            ) : way === "chat" ? (
              <Chat {...parts} edit={() => setWay("wizard")} />
            ) : (
              <Wizard {...parts} />
            )}
          </div>
          <Preview session={session} review={review} isBeside={isBeside} />
        </div>
      </div>
      {isSettingUp && <SetUpModel close={() => setSettingUp(false)} then={() => talk.switchTo("model")} />}
    </Page>
  );
}
