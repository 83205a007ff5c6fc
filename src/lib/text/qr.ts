import { toDataURL } from 'qrcode'

/** The QR code of a text as a PNG, `data:image/png;base64,…`. */
export function qrDataUrl(text: string): Promise<string> {
  return toDataURL(text, { errorCorrectionLevel: 'L', margin: 2, scale: 6 })
}
