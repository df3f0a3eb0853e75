import type { StagedSkill } from "@/api/types";
import {
  chooseAll,
  chooseNone,
  chosenOf,
  decide,
  decisionOn,
  firstDecisions,
  fitting,
  wishOf,
} from "@/features/skills/install/choices";
import { NotPacked, pack } from "@/features/skills/install/pack";
import { standingOf } from "@/features/skills/install/review/standing";
import { zip } from "@/features/skills/install/zip";

const ASK: StagedSkill["asks"][number] = {
  capability: "http_get",
  scope: { hosts: ["api.example.com"], roots: [], names: [] },
  title: "fetch from the web",
  allows: "It may fetch.",
  risk: "Strangers write it.",
  from_parent: null,
  is_needed: false,
};

function staged(name: string, given: Partial<StagedSkill> = {}): StagedSkill {
  return {
    name,
    path: name,
    valid: true,
    problems: [],
    manifest: { name, description: `About ${name}.`, metadata: {} },
    folder_hash: "h",
    files: [],
    asks: [],
    source: { type: "zip", name: "some.zip", sha256: "0".repeat(64) },
    replaces: null,
    is_same: false,
    changes: [],
    needs: [],
    conflicts: [],
    ...given,
  };
}

test("one skill alone is chosen, unless it would replace another and nobody asked for that", () => {
  const [only, other] = [staged("one"), staged("one", { replaces: "1.0.0" })];
  expect(chosenOf(firstDecisions([only], false), [only])).toEqual([only]);
  expect(chosenOf(firstDecisions([other], false), [other])).toEqual([]);
  expect(chosenOf(firstDecisions([other], true), [other])).toEqual([other]);
  expect(chosenOf(firstDecisions([only, staged("two")], false), [only, staged("two")])).toEqual([]);
});

test("nothing is granted and nothing trusted until somebody says so", () => {
  const skill = staged("one", { asks: [ASK] });
  const decisions = firstDecisions([skill], false);
  expect(wishOf(decisions, [skill])).toEqual({
    skills: [{ name: "one", tier: "untrusted", grants: [] }],
    force: false,
  });
  const scope = { hosts: ["example.com"], roots: [], names: [] };
  const allowed = decide(decisions, skill, { tier: "verified", grants: { http_get: scope } });
  expect(wishOf(allowed, [skill]).skills).toEqual([
    { name: "one", tier: "verified", grants: [{ capability: "http_get", scope }] },
  ]);
});

test("all that can be installed are chosen at once: no broken one, none that is there, none twice", () => {
  const skills = [
    staged("a"),
    staged("b", { valid: false }),
    staged("c", { is_same: true, replaces: "1.0.0" }),
    staged("d", { replaces: "1.0.0" }),
    staged("a", { path: "copy/a" }),
  ];
  const all = chooseAll({}, skills);
  expect(chosenOf(all, skills).map(({ path }) => path)).toEqual(["a", "d"]);
  expect(wishOf(all, chosenOf(all, skills)).force).toBe(true);
  expect(chosenOf(chooseNone(all, skills), skills)).toEqual([]);
  expect(skills.map(standingOf)).toEqual(["new", "broken", "same", "other", "new"]);
});

test("what was decided about one stays when another is chosen", () => {
  const skills = [staged("a"), staged("b")];
  const [first] = skills as [StagedSkill];
  const decisions = chooseAll(decide({}, first, { tier: "local" }), skills);
  expect(decisionOn(decisions, first)).toEqual({ isChosen: true, tier: "local", grants: {} });
});

test("every word is looked for in the name, the description and the path", () => {
  const skills = [staged("mail"), staged("post", { path: "team/post" })];
  expect(fitting(skills, "  TEAM about ").map(({ name }) => name)).toEqual(["post"]);
  expect(fitting(skills, " ")).toEqual(skills);
});

const bytes = (text: string) => new TextEncoder().encode(text);
const hex = (data: Uint8Array) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");

test("an archive is written as the format wants it", async () => {
  const blob = zip([{ path: "ü/a.txt", data: bytes("123456789") }]);
  const data = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(data.buffer);
  expect(view.getUint32(0, true)).toBe(0x04034b50);
  // The checksum that everybody agrees on for these nine digits.
  expect(view.getUint32(14, true)).toBe(0xcbf43926);
  const name = bytes("ü/a.txt");
  expect(hex(data.slice(30, 30 + name.length + 9))).toBe(hex(name) + hex(bytes("123456789")));
  const end = data.length - 22;
  expect(view.getUint32(end, true)).toBe(0x06054b50);
  expect(view.getUint16(end + 10, true)).toBe(1);
  const directory = view.getUint32(end + 16, true);
  expect(directory).toBe(30 + name.length + 9);
  expect(view.getUint32(directory, true)).toBe(0x02014b50);
  expect(view.getUint32(end + 12, true)).toBe(end - directory);
});

const loose = (path: string, text = "x") => ({ path, file: new File([text], path.split("/").at(-1) ?? "") });

test("a folder is packed without what is never part of a skill", async () => {
  const { name, folder, data } = await pack([loose("mine/SKILL.md"), loose("mine/.git/config", "secret")]);
  expect([name, folder]).toEqual(["mine.zip", "mine"]);
  const text = await data.text();
  expect(text).toContain("mine/SKILL.md");
  expect(text).not.toContain("secret");
});

test("a zip goes on its way as it is, and an empty folder does not", async () => {
  const file = new File(["PK"], "skills.zip");
  expect(await pack([{ path: "skills.zip", file }])).toEqual({ name: "skills.zip", folder: "", data: file });
  await expect(pack([loose(".git/config")])).rejects.toThrow(NotPacked);
});
