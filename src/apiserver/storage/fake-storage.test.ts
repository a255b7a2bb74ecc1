import { storageConformance } from '#sdk/testing/storage';
import { FakeStorage, FakeStorageWithFeed } from './fake-storage.ts';

storageConformance('fake', async () => {
  const storage = new FakeStorage();
  return { storage, cleanup: () => storage.close() };
});

storageConformance('fake with a commit feed', async () => {
  const storage = new FakeStorageWithFeed();
  return { storage, cleanup: () => storage.close() };
});
