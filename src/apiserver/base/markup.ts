const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Replaces what a browser could take for HTML in a message with a client's text. Upstream: endpoints/handlers/responsewriters/errors.go.
 */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => entities[char] as string);
}
