import java.nio.file.Path;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Serves a Neo4j for the tests until its standard input ends: the jars hold no command line of their own. */
public class Neo4jServer {
    public static void main(String[] arguments) throws Exception {
        new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .loadPropertiesFromFile(Path.of(arguments[1]))
                .build();
        System.out.println("READY");
        while (System.in.read() >= 0) {
            // The parent says nothing; it closes the pipe, or dies.
        }
        Runtime.getRuntime().halt(0); // at once: nobody misses the data
    }
}
