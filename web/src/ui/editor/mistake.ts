/** A problem in a text and its position. */
export type Mistake = {
  line?: number | null;
  column?: number | null;
  message: string;
  hint?: string | null;
  is_warning: boolean;
};
