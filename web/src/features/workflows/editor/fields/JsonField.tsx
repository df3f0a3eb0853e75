import type { ComponentProps } from "react";
import type { Json } from "../../definition/model";
import { readJson, shownJson } from "../json";
import { TypedField } from "./TypedField";

type Props = Omit<ComponentProps<typeof TypedField<Json | undefined>>, "shown" | "read">;

/** A field for JSON or plain text. */
export function JsonField({ rows = 4, ...rest }: Props) {
  return <TypedField {...rest} rows={rows} shown={shownJson} read={readJson} />;
}
