/** The text without the characters at its end that are this one: Go's strings.TrimRight. A regular expression would take the square of a run that is not at the end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
