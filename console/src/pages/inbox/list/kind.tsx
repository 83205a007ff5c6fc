import {
  IconAddressBook,
  IconChartBar,
  IconFile,
  IconHandClick,
  IconMapPin,
  IconMessage,
  IconMicrophone,
  IconPhoto,
  IconShoppingCart,
  IconSticker,
  IconTemplate,
  IconVideo,
} from '@tabler/icons-react'

const ICONS = {
  image: IconPhoto,
  video: IconVideo,
  audio: IconMicrophone,
  document: IconFile,
  sticker: IconSticker,
  location: IconMapPin,
  contacts: IconAddressBook,
  interactive: IconHandClick,
  template: IconTemplate,
  poll: IconChartBar,
  order: IconShoppingCart,
  other: IconMessage,
}

export type Kind = keyof typeof ICONS

/** The kind of a message, for icon and name. Null: text. */
export function kindOf({ message_type, media_type }: { message_type: string; media_type: string | null }): Kind | null {
  const kind = [message_type, media_type ?? ''].find((name): name is Kind => Object.hasOwn(ICONS, name))
  if (kind) return kind
  return message_type === 'text' || message_type === 'button' ? null : 'other'
}

/** The icon of a kind, hidden from screen readers. */
export function KindIcon({ kind }: { kind: Kind }) {
  const Icon = ICONS[kind]
  return <Icon size={14} stroke={1.8} aria-hidden />
}
