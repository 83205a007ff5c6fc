import { inBatches } from '../async/batches.js'

const ITEMS_A_PART = 200

/** Yields the JSON object `{"success":true,"<name>":[…]}` in parts. The first part comes with the first items. */
export async function* writeJsonList(name: string, items: AsyncIterable<object>): AsyncGenerator<string> {
  const head = `{"success":true,${JSON.stringify(name)}:[`
  let before = head
  for await (const some of inBatches(items, ITEMS_A_PART)) {
    yield before + some.map((item) => JSON.stringify(item)).join(',')
    before = ','
  }
  yield before === head ? `${head}]}` : ']}'
}
