import { answerRegexpsBy, type RegexpAnswer, type RegexpQuestion } from '#apimachinery/runtime/regexp';
import { QueuedThread } from './queued-thread.ts';

const thread = new QueuedThread<RegexpQuestion, RegexpAnswer>({
  name: 'regular expressions',
  module: new URL('./regexp-worker', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024 },
  timeoutMs: 30_000,
});

/** Lets a worker thread match large patterns and long texts. */
export function useRegexpThread(): void {
  answerRegexpsBy((question) => thread.ask(question));
}
