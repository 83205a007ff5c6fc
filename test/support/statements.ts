import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AnyStatement, declaredStatements } from '../../src/database/statement.js'
import { packageRoot } from '../../src/lib/files/package-root.js'

/** All statements of the service. Statements of tests in the same process start with `test.`. */
export async function loadStatements(): Promise<AnyStatement<unknown>[]> {
  for (const folder of ['src/storage', 'src/jobs']) {
    const files = await readdir(join(packageRoot(), folder), { recursive: true })
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      await import(pathToFileURL(join(packageRoot(), folder, file)).href)
    }
  }
  return declaredStatements().filter(({ name }) => !name.startsWith('test.'))
}
