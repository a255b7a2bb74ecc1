import { storageConformance } from '#sdk/testing/storage';
import { openInFolder, threadOf } from './testing/stores-in-folders.ts';

storageConformance('embedded, in a file, before the thread runs', () => openInFolder({}));

storageConformance('embedded, in a file', async () => {
  const store = await openInFolder({});
  await threadOf(store.file);
  return store;
});
