import { fileURLToPath } from 'node:url';

/** A place that a stack names. */
interface StackPlace {
  /** Absolute path; the text of a URL that is none of a file. */
  readonly file: string;
  readonly line: string;
}

/** A frame (`at f (FILE:LINE:COLUMN)`), or the place of a syntax error (`FILE:LINE`), whose path may contain blanks. */
const placeOfLine = /^(?:\s+at (?:.* \()?)?((?:file:\/\/)?\/.*?):(\d+)(?::\d+)?\)?$/;
/** Longer lines are parts of messages; matching one takes time quadratic in its length. */
const longestLine = 4_096;

/** Returns the places in files that the stack of an error names, innermost first, without Node's own modules. */
export function stackPlaces(stack: string): StackPlace[] {
  return stack.split('\n').flatMap((text) => {
    const [, path, line = ''] = (text.length <= longestLine && placeOfLine.exec(text)) || [];
    return path === undefined ? [] : { file: path.startsWith('file:') ? pathOf(path) : path, line };
  });
}

/** Returns the frames of the stack of an error, without its message, which may have any text. */
export function framesOf({ stack = '', message }: Error): string {
  const at = message === '' ? -1 : stack.indexOf(message);
  const frames = at < 0 ? stack : stack.slice(at + message.length);
  return frames.slice(Math.max(0, frames.indexOf('\n')));
}

/** Returns the path of a file URL, or the URL if it has none. */
function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
