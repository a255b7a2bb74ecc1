import type { CacheList } from './list-query.ts';

/** Counts of lists and of the objects that they examined and returned. */
export class ListCounts {
  lists = 0;
  /** Number of examined objects. */
  read = 0;
  returned = 0;

  /** Adds a list that examined `read` objects. */
  add(read: number, returned: number): void {
    this.lists += 1;
    this.read += read;
    this.returned += returned;
  }

  /** Adds a list and returns it. */
  counted(list: CacheList, read: number): CacheList {
    this.add(read, list.count);
    return list;
  }
}
