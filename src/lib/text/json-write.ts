import { inBatches } from '../async/batches.js'

const ITEMS_A_PART = 200

/** The JSON object `{"success":true,"<name>":[…]}`, part by part. The first part comes when the first items are there. */
export async function* writeJsonList(name: string, items: AsyncIterable<object>): AsyncGenerator<string> {
  const head = `{"success":true,${JSON.stringify(name)}:[`
  let before = head
  for await (const some of inBatches(items, ITEMS_A_PART)) {
    yield before + some.map((item) => JSON.stringify(item)).join(',')
    before = ','
  }
  yield before === head ? `${head}]}` : ']}'
}
