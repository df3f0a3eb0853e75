/** Model names suggested while typing. */
export function Suggestions({ id, models }: { id: string; models: readonly string[] }) {
  return (
    <datalist id={id}>
      {models.map((model) => (
        <option key={model} value={model} />
      ))}
    </datalist>
  );
}
