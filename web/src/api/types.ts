/** Types of the API, derived from the generated schema so that a change there is a compile error here. */
import type { paths } from "./schema.gen";

type Json<Response> = Response extends { content: { "application/json": { data: infer Data } } }
  ? Data
  : never;
type Got<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: infer Response } } }
  ? Json<Response>
  : never;

export type Me = Got<"/api/v1/me">;
export type Account = Me["account"];
export type Scope = Me["scopes"][number];
export type ApiKey = Got<"/api/v1/keys">[number];
export type Secret = Got<"/api/v1/secrets">[number];
export type GithubConfiguration = Got<"/api/v1/auth/configuration">;
export type GithubConnection = Got<"/api/v1/github">;
export type Member = Got<"/api/v1/members">[number];
export type Invitation = Got<"/api/v1/invitations">[number];
export type ModelShare = Got<"/api/v1/models/shares">[number];
export type SystemStatus = Got<"/api/v1/status">;

export type Models = Got<"/api/v1/models">;
export type ModelProvider = Models["providers"][number];
export type ModelRole = Models["roles"][number];
export type ModelPrice = Models["prices"][string];
export type ModelBudget = Models["budgets"][number];
export type ModelCall = Got<"/api/v1/models/calls">[number];

export type Run = Got<"/api/v1/runs">[number];
export type RunStatus = Run["status"];
export type RunDetail = Got<"/api/v1/runs/{run_id}">;
export type Progress = NonNullable<Run["progress"]>;
export type Problem = NonNullable<Run["error"]>;

export type Gate = Got<"/api/v1/gates">[number];
export type GateOption = Gate["options"][number];

/** Anything that can arrive on a stream. Events with `seq` null are ephemeral: not stored and never replayed. */
export type Event = Got<"/api/v1/events">[number];
export type EventType = Event["type"];
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** A person's message to a running agent. */
export type Interjection = EventOf<"agent.heard">["data"]["messages"][number];
export type AgentRole = EventOf<"agent.started">["data"]["role"];
export type AgentLimits = EventOf<"agent.started">["data"]["limits"];

export type Bot = Got<"/api/v1/bots">[number];
export type BotStatus = Bot["status"];
export type Identity = Bot["identity"];
export type BotCategory = Identity["category"];
export type BotSkill = Got<"/api/v1/bots/{bot}/skills">[number];
export type NewBotSkill =
  paths["/api/v1/bots/{bot}/skills"]["post"]["requestBody"]["content"]["application/json"];
export type BotSkillChange =
  paths["/api/v1/bots/{bot}/skills/{name}"]["patch"]["requestBody"]["content"]["application/json"];
export type BotBundle = Got<"/api/v1/bots/{bot}/export">;
export type NewBot = paths["/api/v1/bots"]["post"]["requestBody"]["content"]["application/json"];
export type BotChange = paths["/api/v1/bots/{bot}"]["patch"]["requestBody"]["content"]["application/json"];
export type BotSort = NonNullable<NonNullable<paths["/api/v1/bots"]["get"]["parameters"]["query"]>["sort"]>;

export type FileState = Got<"/api/v1/bots/{bot}/{file}">;
export type BotFile = FileState["file"];
export type FileProblem = FileState["problems"][number];
export type FileVersion = Got<"/api/v1/bots/{bot}/{file}/versions">[number];
export type FileVersionDetail = Got<"/api/v1/bots/{bot}/{file}/versions/{number}">;
export type FileDiff = Got<"/api/v1/bots/{bot}/{file}/diff">;
export type DiffRow = FileDiff["rows"][number];
/** The `detail` of a `file_changed` error; errors are not part of the schema. */
export type FileConflict = { current: FileState; theirs: FileDiff | null; yours: FileDiff };

export type Memory = Got<"/api/v1/bots/{bot}/memories">[number];
export type MemoryCategory = Memory["category"];
export type MemoryMatch = Got<"/api/v1/bots/{bot}/memories/recall">[number];
export type RecallWay = Got<"/api/v1/memories/way">;

export type ChatSession = Got<"/api/v1/bots/{bot}/sessions">[number];
export type ChatSessionDetail = Got<"/api/v1/sessions/{session_id}">;
export type ChatMessage = Got<"/api/v1/sessions/{session_id}/messages">[number];
export type ChatTurn = EventOf<"chat.asked">["data"] & { session: ChatSession };
export type ChatHit = Got<"/api/v1/bots/{bot}/search">[number];

export type Workspace = Got<"/api/v1/workspaces">[number];
export type FileEntry = Got<"/api/v1/workspaces/{workspace_id}/files">[number];
export type FileText = Got<"/api/v1/workspaces/{workspace_id}/file">;
export type FoundLines = Got<"/api/v1/workspaces/{workspace_id}/search">;

export type AuditBody = paths["/audit/run"]["post"]["requestBody"]["content"]["application/json"];
export type CheckResult = EventOf<"audit.check">["data"]["result"];
export type Verdict = CheckResult["result"];
export type Finding = CheckResult["findings"][number];
export type Severity = Finding["severity"];
export type AuditRoots = Got<"/audit/roots">;
export type AuditSummary = EventOf<"audit.finished">["data"]["summary"];

export type Interview = Got<"/api/v1/builder/sessions/{session_id}">;
export type InterviewDraft = Got<"/api/v1/builder/drafts">[number];
export type InterviewMode = Interview["mode"];
export type InterviewPhase = Interview["phase"];
export type InterviewTurn = NonNullable<Interview["turn"]>;
export type TurnOf<Action extends InterviewTurn["action"]> = Extract<InterviewTurn, { action: Action }>;
export type InterviewSpeaker = Interview["spoken_by"]["speaker"];
export type NewInterview =
  paths["/api/v1/builder/sessions"]["post"]["requestBody"]["content"]["application/json"];
export type InterviewAnswer =
  paths["/api/v1/builder/sessions/{session_id}/answer"]["post"]["requestBody"]["content"]["application/json"]["answer"];
export type BuilderConfig = TurnOf<"ready_to_assemble">["config"];
export type SkillRequest = TurnOf<"ready_to_create_skill">["skill_request"];
export type InterviewPreview = Interview["preview"];
export type Made = NonNullable<Interview["made"]>;
export type TrialReport = NonNullable<Interview["trial"]>;
export type FileChange = Got<"/api/v1/builder/sessions/{session_id}/replay">["files"][number];
export type InterviewMemory = Got<"/api/v1/builder/memory">[number];

export type SkillCard = Got<"/api/v1/skills">[number];
export type SkillDetail = Got<"/api/v1/skills/{name}">;
export type SkillKind = SkillCard["kind"];
export type SkillTier = SkillCard["tier"];
export type SkillState = SkillCard["state"];
export type SkillOrigin = SkillCard["source"];
export type SkillCapability = SkillCard["capabilities"][number];
export type SkillProblem = SkillDetail["problems"][number];
export type SkillFile = SkillDetail["files"][number];
export type SkillRelation = SkillDetail["dependencies"][number];
export type SkillAsk = SkillDetail["asks"][number];
export type SkillGrant = SkillDetail["grants"][number];
export type SkillScope = SkillAsk["scope"];
export type SkillLimits = SkillDetail["limits"];
export type SkillFileContent = Got<"/api/v1/skills/{name}/files/{path}">;
export type SkillRun = Got<"/api/v1/skills/{name}/runs">[number];
export type SkillEnd = SkillRun["end"];
export type SkillRan = Json<paths["/api/v1/skills/{name}/run"]["post"]["responses"][200]>;
export type SkillTestReport = Json<paths["/api/v1/skills/{name}/test"]["post"]["responses"][200]>;
export type SkillValidation = Json<paths["/api/v1/skills/validate"]["post"]["responses"][200]>;
export type SkillFrame = paths["/api/v1/skills/frame"]["post"]["requestBody"]["content"]["application/json"];
/** A capability to grant, and its scope. */
export type SkillGrantWish =
  paths["/api/v1/skills/{name}/grants"]["put"]["requestBody"]["content"]["application/json"]["grants"][number];
export type StagedSkills = Got<"/api/v1/skill-stages/{stage}">;
export type StagedSkill = StagedSkills["skills"][number];
export type InstallWish =
  paths["/api/v1/skill-stages/{stage}/install"]["post"]["requestBody"]["content"]["application/json"];
export type InstalledSkill = Json<
  paths["/api/v1/skill-stages/{stage}/install"]["post"]["responses"][200]
>[number];
export type SkillSource =
  paths["/api/v1/skill-stages"]["post"]["requestBody"]["content"]["application/json"]["source"];
export type SkillRegistry = Got<"/api/v1/skill-registries">[number];
export type RegistryEntry = Got<"/api/v1/skill-registries/search">[number];

export type WorkflowCard = Got<"/api/v1/workflows">[number];
export type WorkflowDetail = Got<"/api/v1/workflows/{ref}">;
export type WorkflowTrigger = WorkflowCard["triggers"][number];
export type WorkflowTriggerType = WorkflowTrigger["type"];
export type WorkflowMark = WorkflowCard["last_runs"][number];
export type WorkflowVersion = Got<"/api/v1/workflows/{ref}/versions">[number];
export type WorkflowVersionDetail = Got<"/api/v1/workflows/{ref}/versions/{number}">;
export type WorkflowTemplate = Got<"/api/v1/workflows/templates">[number];
export type WorkflowRun = Got<"/api/v1/workflow-runs">[number];
export type WorkflowRunDetail = Got<"/api/v1/workflow-runs/{run_id}">;
export type WorkflowStep = WorkflowRunDetail["steps"][number];
export type WorkflowStepType = WorkflowStep["type"];
export type WorkflowStepStatus = WorkflowStep["status"];
export type WorkflowStepDetail = Got<"/api/v1/workflow-runs/{run_id}/steps">[number];
export type WorkflowAttempt = WorkflowStepDetail["attempts"][number];
export type WorkflowReading = Json<paths["/api/v1/workflows/read"]["post"]["responses"][200]>;
export type WorkflowPlace = WorkflowReading["problems"][number];
export type WorkflowDryRun = Json<paths["/api/v1/workflows/{ref}/dry-run"]["post"]["responses"][200]>;
export type WorkflowSubmitted = Json<paths["/api/v1/workflows/{ref}/trigger"]["post"]["responses"][202]>;

export type BotMessage = Got<"/api/v1/messages">[number];
export type MessageDelivery = BotMessage["deliveries"][number];
export type MessageSender = BotMessage["sender"];
export type MessageRecipient = BotMessage["recipient"];
export type MessageChannel = Got<"/api/v1/message-channels">[number];
