// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "event.onConnectionUpdate": [
    {
      "name": "example",
      "body": {
        "event": "connection.update",
        "instance": "phone",
        "data": {
          "instance": "phone",
          "state": "open",
          "statusReason": 200,
          "wuid": "5511988887777@s.whatsapp.net",
          "profileName": null,
          "profilePictureUrl": null
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "5511988887777@s.whatsapp.net",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onContactsUpdate": [
    {
      "name": "example",
      "body": {
        "event": "contacts.update",
        "instance": "shop",
        "data": {
          "remoteJid": "5511955554444@s.whatsapp.net",
          "pushName": "Ana Souza",
          "profilePicUrl": null,
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onContactsUpsert": [
    {
      "name": "example",
      "body": {
        "event": "contacts.upsert",
        "instance": "shop",
        "data": {
          "remoteJid": "5511955554444@s.whatsapp.net",
          "pushName": null,
          "profilePicUrl": null,
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onLogoutInstance": [
    {
      "name": "example",
      "body": {
        "event": "logout.instance",
        "instance": "phone",
        "data": null,
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "5511988887777@s.whatsapp.net",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onMessagesDelete": [
    {
      "name": "example",
      "body": {
        "event": "messages.delete",
        "instance": "shop",
        "data": {
          "remoteJid": "5511955554444@s.whatsapp.net",
          "fromMe": false,
          "id": "wamid.EXAMPLE17",
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE17"},
          "pushName": "Ana Souza",
          "status": "DELETED",
          "message": {"conversation": ""},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "unknown"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onMessagesEdited": [
    {
      "name": "example",
      "body": {
        "event": "messages.edited",
        "instance": "shop",
        "data": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE17"},
          "type": "MESSAGE_EDIT",
          "editedMessage": {"conversation": "See you at 10"},
          "timestampMs": 1772442000000,
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onMessagesUpdate": [
    {
      "name": "example",
      "body": {
        "event": "messages.update",
        "instance": "shop",
        "data": {
          "messageId": "01a20000-0000-7000-8000-000000000016",
          "keyId": "wamid.EXAMPLE1",
          "remoteJid": "5511955554444@s.whatsapp.net",
          "fromMe": true,
          "status": "DELIVERY_ACK",
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onMessagesUpsert": [
    {
      "name": "example",
      "body": {
        "event": "messages.upsert",
        "instance": "shop",
        "data": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE8"},
          "pushName": "",
          "status": "DELIVERY_ACK",
          "message": {"conversation": "Good morning"},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "unknown"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onQrcodeUpdated": [
    {
      "name": "example",
      "body": {
        "event": "qrcode.updated",
        "instance": "phone",
        "data": {
          "qrcode": {
            "instance": "phone",
            "code": "2@EXAMPLE,EXAMPLE,EXAMPLE",
            "pairingCode": null,
            "base64": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAS"
          }
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "5511988887777@s.whatsapp.net",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ],
  "event.onSendMessage": [
    {
      "name": "example",
      "body": {
        "event": "send.message",
        "instance": "shop",
        "data": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE1"},
          "pushName": "",
          "status": "SERVER_ACK",
          "message": {"conversation": "Hello"},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        },
        "destination": "https://shop.example/hooks/chat",
        "date_time": "2026-03-02T09:00:00.000Z",
        "sender": "",
        "server_url": "https://parley.example/gateway",
        "apikey": null
      }
    }
  ]
}
