import { Buffer } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { StreamedAnswer } from './streamed-answer.ts';
import { writeAsMade } from './write-as-made.ts';

it('a list makes its next piece when the one before is sent, however small that is', async () => {
  const made: number[] = [];
  const taken: (() => void)[] = [];
  const target = {
    on: () => {},
    write: (_bytes: Buffer, sent: () => void) => taken.push(sent) > 0,
    end: () => {},
    writableLength: 0,
  };
  const stream = new StreamedAnswer(target as never, 1_000, 'list', () => {});
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for (let i = 0; i < 3; i += 1) {
      made.push(i);
      yield Buffer.from('{');
    }
  };
  const written = writeAsMade({ closed: false, onClose: () => {} }, stream, pieces());
  for (let sent = 0; sent < 3; sent += 1) {
    await nextTurn();
    expect(made).toHaveLength(sent + 1);
    taken[sent]?.();
  }
  await written;
});
