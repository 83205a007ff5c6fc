// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "webhook.set": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {
        "webhook": {
          "url": "https://shop.example/hooks/chat",
          "events": [
            "CONTACTS_UPSERT",
            "CONTACTS_UPDATE",
            "MESSAGES_UPSERT",
            "MESSAGES_UPDATE",
            "MESSAGES_EDITED",
            "MESSAGES_DELETE",
            "SEND_MESSAGE"
          ]
        }
      },
      "status": 201,
      "answer": {
        "id": "01a20000-0000-7000-8000-000000000003",
        "url": "https://shop.example/hooks/chat",
        "headers": {},
        "enabled": true,
        "events": [
          "CONTACTS_UPSERT",
          "CONTACTS_UPDATE",
          "MESSAGES_UPSERT",
          "MESSAGES_UPDATE",
          "MESSAGES_EDITED",
          "MESSAGES_DELETE",
          "SEND_MESSAGE"
        ],
        "webhookByEvents": false,
        "webhookBase64": false,
        "createdAt": "2026-03-02T09:00:00.000Z",
        "updatedAt": "2026-03-02T09:00:00.000Z",
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "secret": "whsec_EXAMPLE"
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"webhook": {"enabled": true}},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["webhook.url is required and must not be empty"]]}
      }
    }
  ],
  "webhook.find": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "status": 200,
      "answer": {
        "id": "01a20000-0000-7000-8000-000000000003",
        "url": "https://shop.example/hooks/chat",
        "headers": {},
        "enabled": true,
        "events": [
          "CONTACTS_UPSERT",
          "CONTACTS_UPDATE",
          "MESSAGES_UPSERT",
          "MESSAGES_UPDATE",
          "MESSAGES_EDITED",
          "MESSAGES_DELETE",
          "SEND_MESSAGE"
        ],
        "webhookByEvents": false,
        "webhookBase64": false,
        "createdAt": "2026-03-02T09:00:00.000Z",
        "updatedAt": "2026-03-02T09:00:00.000Z",
        "instanceId": "01a20000-0000-7000-8000-000000000001"
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    }
  ]
}
