import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import S3rver from 's3rver'
import FilesystemStore from 's3rver/lib/stores/filesystem.js'

/** The store of s3rver 3.7.1, with what S3 promises and that store does not keep. */
class DependableStore extends FilesystemStore {
  /** Resolves when the bytes are in the file, which is replaced as a whole: the original answers before they are there. */
  async putObject({ bucket, key, content, metadata }) {
    const unfinished = join(this.rootDirectory, randomUUID())
    const hash = createHash('md5')
    const file = createWriteStream(unfinished)
    await pipeline(content, (chunks) => hashed(chunks, hash), file)
    const path = this.getResourcePath(bucket, key, 'object')
    await mkdir(dirname(path), { recursive: true })
    await rename(unfinished, path)
    const md5 = hash.digest('hex')
    await this.putMetadata(bucket, key, metadata, md5)
    return { size: file.bytesWritten, md5 }
  }

  /** The original takes an end of 0 for none, and sends the whole. */
  async getObject(bucket, key, options) {
    if (options?.end !== 0) return super.getObject(bucket, key, options)
    const object = await super.getObject(bucket, key, { start: 0, end: 1 })
    if (!object) return null
    object.content.destroy()
    object.content = createReadStream(this.getResourcePath(bucket, key, 'object'), { start: 0, end: 0 })
    object.range = { start: 0, end: 0 }
    return object
  }

  /** Leaves empty folders: the original fails when two requests remove the same one. */
  async deleteObject(bucket, key) {
    const files = ['object', 'object.md5', 'metadata.json'].map((name) => this.getResourcePath(bucket, key, name))
    await Promise.all(files.map((file) => rm(file, { force: true })))
  }
}

async function* hashed(chunks, hash) {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

const [, , directory] = process.argv
const buckets = { configureBuckets: [{ name: 'media' }] }
const server = new S3rver({ address: '127.0.0.1', port: 0, directory, silent: true, ...buckets })
server.store = server.context.store = new DependableStore(directory)
const { address, port } = await server.run()
process.send(`http://${address}:${port}`)
// It does not outlive the tests, however they end.
process.once('disconnect', () => process.exit())
