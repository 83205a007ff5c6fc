import {
  IconBuilding,
  IconBuildingStore,
  IconDeviceMobile,
  IconKey,
  IconPhone,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'

/** The sections, in the order of the navigation. */
export const SECTIONS = [
  { name: 'organization', icon: IconBuilding },
  { name: 'team', icon: IconUsers },
  { name: 'number', icon: IconPhone },
  { name: 'instances', icon: IconDeviceMobile },
  { name: 'storefront', icon: IconBuildingStore },
  { name: 'keys', icon: IconKey },
  { name: 'webhooks', icon: IconWebhook },
] as const
