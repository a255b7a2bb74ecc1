interface Interval {
  readonly first: number;
  readonly last: number;
}

/** A set of completion indexes, in the form of `status.completedIndexes`: `1,3-5,7`. Upstream: orderedIntervals of pkg/controller/job. */
export class IndexSet {
  static readonly empty = new IndexSet([]);

  /** The intervals are in order and do not touch each other. */
  private constructor(private readonly intervals: readonly Interval[]) {}

  /** Reads the indexes below `completions`; parts that are not numbers are left out. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const intervals: Interval[] = [];
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!match) continue;
      const first = Number(match[1]);
      if (first >= completions) break;
      intervals.push({ first, last: Math.min(Number(match[2] ?? first), completions - 1) });
    }
    return new IndexSet(joined(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(joined([...indexes].sort((a, b) => a - b).map((index) => ({ first: index, last: index }))));
  }

  get size(): number {
    return this.intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.intervals.some(({ first, last }) => first <= index && index <= last);
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(joined([...this.intervals, ...other.intervals].sort((a, b) => a.first - b.first)));
  }

  /** Returns the number of indexes that both sets have. */
  overlap(other: IndexSet): number {
    let sum = 0;
    for (const a of this.intervals)
      for (const b of other.intervals) sum += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
    return sum;
  }

  /** Returns the first indexes below `completions` that the set lacks. */
  missing(count: number, completions: number): number[] {
    const result: number[] = [];
    let candidate = 0;
    const fill = (end: number): void => {
      for (; candidate < end && result.length < count; candidate++) result.push(candidate);
    };
    for (const { first, last } of this.intervals) {
      fill(Math.min(first, completions));
      candidate = Math.max(candidate, last + 1);
    }
    fill(completions);
    return result;
  }

  toString(): string {
    return this.intervals
      .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join(',');
  }
}

/** Joins intervals, sorted by their start, that overlap or touch. */
function joined(sorted: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const { first, last } of sorted) {
    const previous = result.at(-1);
    if (previous && first <= previous.last + 1) result[result.length - 1] = { ...previous, last: Math.max(previous.last, last) };
    else result.push({ first, last });
  }
  return result;
}
