import { join } from 'node:path'
import type { BlobStore } from './blob-store.js'
import { createFileStore } from './files.js'
import type { MediaSettings } from './settings.js'

/**
 * Opens the store of the settings; files are below `dataDir`. If a bucket cannot be read, `warn` gets one line and the
 * service starts all the same, since the bucket may be back before it is needed.
 */
export async function openBlobStore(
  media: MediaSettings,
  dataDir: string,
  warn: (problem: string) => void = () => undefined,
): Promise<BlobStore> {
  if (media.kind === 'files') return createFileStore(join(dataDir, 'media'))
  // Loaded only if used: the SDK takes tens of megabytes of memory.
  const { createS3Store } = await import('./s3.js')
  const store = createS3Store(media)
  probe(store).catch((error: Error) => warn(error.message))
  return store
}

/** Reads a blob that never exists; a "not found" proves that others can be read. */
async function probe(store: BlobStore): Promise<void> {
  const blob = await store.open('probe')
  blob?.destroy()
}
