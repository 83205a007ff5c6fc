/** The anchors of the headings of a page in Markdown, as GitHub generates them. */
export function anchorsOf(text: string): Set<string> {
  const anchors = Array.from(withoutCode(text).matchAll(/^#+\s+(.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
  return new Set(anchors)
}

const CODE_BLOCK = /^\s*(```|~~~)[^\n]*\n.*?^\s*\1\s*$/gms

export function withoutCode(text: string): string {
  return text.replace(CODE_BLOCK, '')
}
