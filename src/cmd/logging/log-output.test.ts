import { expect, test } from 'vitest';
import { LogOutput, type LogSink } from './log-output.ts';

/** A sink that keeps its data until the test reads it. */
class Unread implements LogSink {
  text = '';

  get waiting(): number {
    return this.text.length;
  }

  write(text: string): void {
    this.text += text;
  }

  read(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

const line = `${'x'.repeat(99)}\n`;

test('writes lines together', () => {
  const sink = new Unread();
  const output = new LogOutput(sink);
  output.write(line);
  expect(sink.text).toBe('');
  output.flush();
  expect(sink.text).toBe(line);
  for (let i = 0; i < 41; i++) output.write(line);
  expect(sink.text).toBe(line.repeat(42));
});

test('drops lines without a reader, and reports their number once there is a reader', () => {
  const sink = new Unread();
  const output = new LogOutput(sink);
  for (let i = 0; i < 20_000; i++) output.write(line);
  expect(sink.text.length).toBeLessThanOrEqual(1_048_576);
  const kept = sink.read().length / line.length;
  output.flush();
  const [last, notice] = [line.length, sink.text];
  expect(JSON.parse(notice.slice(notice.indexOf('{')))).toMatchObject({ dropped: 20_000 - kept - notice.indexOf('{') / last });
});
