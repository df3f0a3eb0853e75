/** The props of the step forms. */
import type { Config, ConfigOf, Definition, StepType } from "../../definition/model";
import type { Reference } from "../references";

/** Changes with the same `about` are undone together. */
export type Change = (definition: Definition, about?: string) => void;

export type ConfigForm<Type extends StepType> = {
  id: string;
  config: ConfigOf<Type>;
  set: (patch: Partial<ConfigOf<Type>>) => void;
  references: readonly Reference[];
  definition: Definition;
  change: Change;
};

export type AnyConfigForm = Omit<ConfigForm<StepType>, "config" | "set"> & {
  config: Config;
  set: (patch: Partial<Config>) => void;
};
