import type { CacheList } from './list-query.ts';

/** What lists went through, and what they gave. */
export class ListCounts {
  lists = 0;
  /** Objects that were looked at. */
  read = 0;
  returned = 0;

  /** `read`: how many objects the list looked at. */
  add(read: number, returned: number): void {
    this.lists += 1;
    this.read += read;
    this.returned += returned;
  }

  /** The same, for a list that is on its way. */
  counted(list: CacheList, read: number): CacheList {
    this.add(read, list.count);
    return list;
  }
}
