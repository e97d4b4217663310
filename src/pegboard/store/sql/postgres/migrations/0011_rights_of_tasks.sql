-- How far an item is on its way to a vector is for members who see it. What is done with its tasks stays with its
-- author and with workers. It goes on with 0002 and 0007: nothing here fails, or does harm, when it is run again.

DROP POLICY IF EXISTS read ON embedding_tasks;
CREATE POLICY read ON embedding_tasks FOR SELECT TO authenticated USING (
  host_id = ANY ((SELECT caller_namespaces())::text[])
  AND (SELECT true FROM items i WHERE i.key = entity_id AND i.namespace = host_id));
