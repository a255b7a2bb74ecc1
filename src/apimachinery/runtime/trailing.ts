/**
 * Returns the text without trailing occurrences of the characters: Go's strings.TrimRight. A regular expression would take quadratic time
 * for a run that is not at the end.
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
