/** One thing that is wrong with a text, and where. */
export type Mistake = {
  line?: number | null;
  column?: number | null;
  message: string;
  hint?: string | null;
  is_warning: boolean;
};
