import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { CALLBACK_FIELDS } from '../../../src/core/callbacks/fields.js'

it('the instructions name all fields that are read, each once', async () => {
  const text = await readFile(new URL('../../../docs/install.md', import.meta.url), 'utf8')
  const listed =
    /the fields \(the console lists them too[^`]*```\n([^`]*)```/.exec(text)?.[1]?.trim().split(/\s+/) ?? []
  expect(listed.toSorted()).toEqual(CALLBACK_FIELDS.toSorted())
})
